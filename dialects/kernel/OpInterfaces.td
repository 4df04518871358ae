// Interfaces and traits of kernel ops for passes: what an op writes, how many
// rows its results have, what runs it. Must not name an op.
#ifndef MILLE_KERNEL_OP_INTERFACES
#define MILLE_KERNEL_OP_INTERFACES
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_RowSource : OpInterface<"RowSource"> {
  let description = "An op whose results have as many rows as other values.";
  let cppNamespace = "::mille::kernel";
  let methods = [InterfaceMethod<
      "A value with as many rows as result number `result`. Null in a program "
      "that does not verify.",
      "::mlir::Value", "getRowsLike", (ins "unsigned":$result)>];
  let verify = [{ return ::mille::kernel::verifyRows($_op); }];
}

// Traits: see OpInterfaces.h.
class Kernel_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::mille::kernel";
}
def Kernel_Generated : Kernel_Trait<"Generated">;
def Kernel_Prepared : Kernel_Trait<"Prepared">;
def Kernel_TokenLocal : Kernel_Trait<"TokenLocal">;
def Kernel_Adds : Kernel_Trait<"Adds">;
#endif
