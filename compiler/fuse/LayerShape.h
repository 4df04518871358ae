// What equal layers share, and what may differ among them: parameter symbols,
// and numbers that a column of the layer table can hold. Must be used by Roll
// only.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille {

// One layer of a stretch: its ops in order, and what may differ between equal
// layers, in order of first appearance.
struct Layer {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<mlir::FlatSymbolRefAttr> symbols;
  llvm::SmallVector<double> numbers;
  // Where each number is: the op, and the attribute's name.
  llvm::SmallVector<std::pair<mlir::Operation *, llvm::StringRef>> sites;
  size_t body = 0;
};

// Fills the layer's symbols and numbers and returns what is left: two layers
// are equal when these words are. `types` are those of parameters, `position`
// is the layer's number and `stream` what it reads.
std::vector<uint64_t>
wordsOf(Layer &layer, int64_t position, mlir::Value stream,
        const llvm::DenseMap<mlir::StringAttr, mlir::Attribute> &types);

// The first thing in which two layers that are not equal differ: "window of
// attend is [4, 0], was absent".
std::string firstDifference(const Layer &first, const Layer &other);

// Replaces symbols and numbers of a cloned layer by columns.
class Generalise {
public:
  llvm::DenseMap<mlir::Attribute, mlir::FlatSymbolRefAttr> symbols;
  // In the order of Layer::numbers; null: stays inline.
  llvm::SmallVector<mlir::FlatSymbolRefAttr> numbers;

  // The op, with what is in its regions; ops in the order in which wordsOf met
  // them. `position` as there.
  void operator()(mlir::Operation *op, int64_t position);

private:
  mlir::Attribute general(mlir::Attribute attribute);
  mlir::FlatSymbolRefAttr renamed(mlir::FlatSymbolRefAttr reference);
  size_t next = 0;
};

} // namespace mille
