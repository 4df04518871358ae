// The weights table: which parameter values a planned program reads, and where
// its host program finds each. Knows no numbers and no files.
#pragma once
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace mille {

// One weights-table entry: what link evaluates and writes.
struct WeightEntry {
  mlir::Attribute value; // an expression over the model's parameters; or f64
  mlir::Location location;
  int64_t elements; // -1: more than can be counted
  mlir::Type type;  // of an element: f32, bf16, i8 or i32

  uint64_t bytes() const {
    return uint64_t(elements) * (type.getIntOrFloatBitWidth() / 8);
  }
};

// Entries 0 .. globals - 1 are the weights outside `layers`; then each `layers`
// op has a block of one row per layer: its body's number, then that body's
// weights. Rows are as long as the longest body's.
struct WeightTable {
  std::vector<WeightEntry> globals;
  struct Layers {                // one per kernel.layers, in order
    mlir::Operation *op;         // the kernel.layers
    uint64_t firstEntry;         // of its block
    uint64_t rowEntries;         // 1 (body number) + longest body
    std::vector<int64_t> bodies; // of each layer
    // of each layer: symbols are the model's, columns already looked up
    std::vector<std::vector<WeightEntry>> rows;
  };
  std::vector<Layers> layers;
  uint64_t entryCount = 0;

  // Of each kernel.weight op: its entry among the globals, or its place in the
  // row of its layer (1 for the first).
  llvm::DenseMap<mlir::Operation *, uint64_t> place;
};

// `model` holds planned entries. Equal values outside `layers`, of all entries,
// or in one body, share a place of the table.
WeightTable collectWeights(mlir::Operation *model);

} // namespace mille
