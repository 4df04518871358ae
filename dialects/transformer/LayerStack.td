// What `transformer.layers` and `kernel.layers` share: bodies, an index per
// layer, and a table. Included by both dialects.
#ifndef MILLE_LAYER_STACK
#define MILLE_LAYER_STACK
include "mlir/IR/OpBase.td"

def LayerStack : OpInterface<"LayerStack"> {
  let description = [{
    A stack of layers. `slots[b]` names the columns of body (region) b; layer l
    runs body `bodies[l]` with the entries of `table[l]` in those columns.
  }];
  let cppNamespace = "::mille::transformer";
  let methods = [
    InterfaceMethod<"names of each body's columns", "::mlir::ArrayAttr", "getSlots">,
    InterfaceMethod<"the body that each layer runs", "::llvm::ArrayRef<int64_t>", "getBodies">,
    InterfaceMethod<"the entries of each layer", "::mlir::ArrayAttr", "getTable">
  ];
  let verify = [{ return ::mille::transformer::verifyLayerStack($_op); }];
}
#endif
