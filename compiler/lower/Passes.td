// The pass of lower, for looking and for tests; the driver calls Lower.h.
#ifndef MILLE_LOWER_PASSES
#define MILLE_LOWER_PASSES
include "mlir/Pass/PassBase.td"

def LowerProgram : Pass<"lower-program", "::mlir::ModuleOp"> {
  let summary = "a planned program becomes host code in the LLVM dialect";
  let description = [{
    ```mlir
    %b = kernel.arena offset 0 rows %rows : memref<?x8xf32>
    kernel.matmul %x, %w outs(%b : memref<?x8xf32>) ...
    ==>
    llvm.call @describe(...)   // a buffer per operand
    %status = llvm.call @mille_launch(%run, %stages, 1, %rows)
    llvm.cond_br %failed, ^exit(%status), ^next
    ```
    The layer loop becomes a loop whose body numbers and weight offsets come
    from the weights table. No kernel generator is at hand here: kernels are
    named by number and described by their operands alone.
  }];
  let options = [
    Option<"name", "name", "std::string", "\"model\"",
           "prefix of the public symbols">,
    Option<"embed", "embed-weights", "bool", "false",
           "refer to weights in the object">,
    Option<"object", "object", "std::string", "\"\"",
           "write the object to this file too">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}
#endif
