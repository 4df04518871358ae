// Draws initial values. Element i of a stream must depend on (seed, stream, i)
// only, so that order, threads and machine do not matter.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "llvm/ADT/ArrayRef.h"

namespace mille {

// Draws the elements first, first + 1, ... of `recipe`, rounded to f32.
void draw(transformer::DrawnAttr recipe, int64_t first,
          llvm::MutableArrayRef<float> into);

} // namespace mille
