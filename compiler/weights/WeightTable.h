// The weights table: the parameter values that a planned program reads, and the
// place of each for the host program. Must not know numbers or files.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace mille {

// An entry of the weights table, which link evaluates and writes.
struct WeightEntry {
  mlir::Attribute value; // an expression over the model's parameters; or f64
  mlir::Location location;
  int64_t elements; // -1: the number does not fit
  mlir::Type type;  // of an element: f32, bf16, i8 or i32

  uint64_t bytes() const {
    return uint64_t(elements) * (type.getIntOrFloatBitWidth() / 8);
  }
};

// What is known of the weights file once it is laid out, and then written.
struct WeightsFile {
  uint64_t bytes = 0, hash = 0;
  uint64_t tableHash = 0;  // of its bytes from header to tensors
  uint64_t drawnBytes = 0; // of weights behind it, which trainers draw
};

// Entries 0 .. globals - 1 are the weights outside `layers`. Then each `layers`
// op has a block with a row per layer: the number of the layer's body, then
// that body's weights. All rows are as long as the longest body needs.
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
  // Of a package that trains: the parameters whose initial values its trainers
  // draw, so that no file holds them.
  llvm::DenseMap<mlir::Attribute, transformer::DrawnAttr> drawn;

  // For each kernel.weight and kernel.gradient op: its entry among the globals,
  // or its place in a layer's row (1 for the first).
  llvm::DenseMap<mlir::Operation *, uint64_t> place;
};

// `model` holds planned entries. Equal values share a place in the table: those
// outside `layers` among all entries, others within their body.
WeightTable collectWeights(mlir::Operation *model);

} // namespace mille
