// The source of a model's parameters: tensors in files, or a recipe. Must give
// expressions only, not numbers.
#pragma once
#include "compiler/import/ModelSpec.h"

namespace mille::import {

// The purpose of a parameter, by which recipes choose a rule.
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
  int64_t rows = 0; // the sum over all `groups`
};

struct Wanted {
  std::string name; // Mille's name: layers.0.attn.q.weight
  llvm::SmallVector<Dimension, 2> shape;
  Role role;
  double init = 0; // initial value, if it is a scale

  // Further facts for recipes; files do not use them.
  Role biasOf = Role::dense; // whose bias it is, and that linear's inputs
  int64_t fanIn = 0;
  // Within each of `groups`, the rows of one part follow those of another.
  llvm::SmallVector<WantedPart, 0> parts = {};
  int64_t groups = 1;
  const Stack *stack = nullptr;         // the current one
  const Attention *attention = nullptr; // of the current branch
};

class WeightSource {
public:
  virtual ~WeightSource() = default;
  // Null after an error, which is then among the problems.
  virtual mlir::Attribute value(const Wanted &wanted) = 0;
  // Whether two parameters that the model treats as one both have numbers and
  // these differ. If so, this reports it.
  virtual bool differ(llvm::StringRef, llvm::StringRef) { return false; }
};

} // namespace mille::import
