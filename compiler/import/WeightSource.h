// Where the values of a model's parameters come from: tensors in files under
// whatever names, or a recipe. Gives expressions, never numbers.
#pragma once
#include "compiler/import/ModelSpec.h"

namespace mille::import {

// What a parameter is for; recipes go by it.
enum class Role {
  embed,
  position,
  tokenType,
  query,
  key,
  value,
  output,
  ffnIn,
  gate,
  ffnOut,
  router,
  dense,
  head,
  normWeight,
  normOffsetWeight,
  bias,
  scale
};

// One extent of a wanted shape and the keys that make it.
struct Dimension {
  int64_t size = 0;
  llvm::SmallVector<const Extent *, 2> from;
};

// One weight of several that files hold as one tensor.
struct WantedPart {
  std::string name;
  Role role;
  int64_t rows = 0; // of all `groups` together
};

struct Wanted {
  std::string name; // in Mille's words: layers.0.attn.q.weight
  llvm::SmallVector<Dimension, 2> shape;
  Role role;
  double init = 0; // of a scale

  // What a recipe goes by besides; files do not ask.
  Role biasOf = Role::dense; // whose bias it is, and that linear's inputs
  int64_t fanIn = 0;
  // Rows of the parts follow each other within each of `groups`.
  llvm::SmallVector<WantedPart, 0> parts = {};
  int64_t groups = 1;
  const Stack *stack = nullptr;         // the one at hand
  const Attention *attention = nullptr; // of the branch at hand
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
