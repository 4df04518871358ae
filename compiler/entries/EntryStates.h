// Adds inputs and states to an entry that is being made.
// Must not know what the states are for.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mille::entries {

class EntryStates {
public:
  // layers: how many entries a state has that each layer writes.
  EntryStates(mlir::func::FuncOp entry, int64_t layers)
      : entry(entry), layers(layers) {}

  // An input after those that the entry has.
  mlir::BlockArgument addInput(mlir::Type type, llvm::StringRef name,
                               llvm::ArrayRef<ShapeExtent> shape);
  // i32 [batch], by name.
  mlir::BlockArgument addCounts(llvm::StringRef name);

  // A state for values of this role and type, with an entry per layer, or one
  // if no layer is given. A layer that has a second value of a role takes
  // another state.
  mlir::BlockArgument stateFor(llvm::StringRef role, mlir::Type element,
                               ShapeExtent rows, int64_t columns,
                               std::optional<int64_t> layer);

private:
  struct State {
    std::string role;
    mlir::Type element;
    int64_t columns;
    bool perLayer;
    llvm::SmallVector<int64_t> used; // layers
    mlir::BlockArgument argument;
  };

  mlir::func::FuncOp entry;
  int64_t layers;
  llvm::SmallVector<State> states;
};

// The layer of the unit that computes a value; nothing outside of units.
std::optional<int64_t> layerOf(mlir::Value value);
// The number of layers of an entry, at least 1.
int64_t layersOf(mlir::func::FuncOp entry);

} // namespace mille::entries
