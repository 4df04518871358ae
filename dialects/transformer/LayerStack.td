// What `transformer.layers` and `kernel.layers` share: bodies, an index per
// layer, and a table. Included by both dialects.
#ifndef MILLE_LAYER_STACK
#define MILLE_LAYER_STACK
include "mlir/IR/OpBase.td"

def LayerStack : OpInterface<"LayerStack"> {
  let description = [{
    A stack of layers. `slots[b]` names the columns of body (region) b; layer l
    runs body `bodies[l]` with the entries of `table[l]` in those columns. Layers run
    from the first to the last, or in reverse.
  }];
  let cppNamespace = "::mille::transformer";
  let methods = [
    InterfaceMethod<"names of each body's columns", "::mlir::ArrayAttr", "getSlots">,
    InterfaceMethod<"the body that each layer runs", "::llvm::ArrayRef<int64_t>", "getBodies">,
    InterfaceMethod<"the entries of each layer", "::mlir::ArrayAttr", "getTable">,
    InterfaceMethod<"whether the last layer comes first", "bool", "getReverse">
  ];
  let extraSharedClassDeclaration = [{
    // The names of a body's columns.
    ::mlir::ArrayAttr namesOf(int64_t body) {
      return ::llvm::cast<::mlir::ArrayAttr>($_op.getSlots()[body]);
    }
    // Which column of a body has that name.
    std::optional<size_t> columnNamed(int64_t body, ::mlir::StringAttr name) {
      auto names = namesOf(body).getValue();
      auto found = ::llvm::find(names, name);
      if (found == names.end())
        return std::nullopt;
      return found - names.begin();
    }
    // The entries of a layer, in the order of its body's names.
    ::mlir::ArrayAttr entriesOf(size_t layer) {
      return ::llvm::cast<::mlir::ArrayAttr>($_op.getTable()[layer]);
    }
    // What a symbol stands for in a layer: itself where it is no column.
    ::mlir::Attribute entryOf(size_t layer, ::mlir::FlatSymbolRefAttr name) {
      auto column = columnNamed($_op.getBodies()[layer], name.getAttr());
      return column ? entriesOf(layer)[*column] : ::mlir::Attribute(name);
    }
    // The layers that run a body, in order; the verifier sees that there are.
    ::llvm::SmallVector<size_t> layersOf(int64_t body) {
      ::llvm::SmallVector<size_t> layers;
      for (auto [layer, runs] : ::llvm::enumerate($_op.getBodies()))
        if (runs == body)
          layers.push_back(layer);
      return layers;
    }
  }];
  let verify = [{ return ::mille::transformer::verifyLayerStack($_op); }];
}
#endif
