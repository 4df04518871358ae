// Where the values of a model's parameters come from: tensors in files under
// whatever names, or a recipe. Gives expressions, never numbers.
#pragma once
#include "compiler/import/ModelSpec.h"

namespace mille::import {

// What a parameter is for; recipes go by it.
enum class Role {
  embed, position, tokenType, query, key, value, output, ffnIn, gate, ffnOut,
  dense, head, normWeight, normOffsetWeight, bias, scale
};

// One extent of a wanted shape and the keys that make it.
struct Dimension {
  int64_t size = 0;
  llvm::SmallVector<const Extent *, 2> from;
};

struct Wanted {
  std::string name; // in Mille's words: layers.0.attn.q.weight
  llvm::SmallVector<Dimension, 2> shape;
  Role role;
  double init = 0; // of a scale
};

class WeightSource {
public:
  virtual ~WeightSource() = default;
  // Null after an error, which is told elsewhere.
  virtual mlir::Attribute value(const Wanted &wanted) = 0;
  // Whether both parameters have numbers, and not the same, although a model
  // takes one for the other. Told where it is so.
  virtual bool differ(llvm::StringRef, llvm::StringRef) { return false; }
};

} // namespace mille::import
