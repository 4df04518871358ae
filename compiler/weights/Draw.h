// Draws initial values of `drawn` attributes. Element i of a stream must depend
// on (seed, stream, i) only, so that order, threads and machine do not matter.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "runtime/train/Draw.h"
#include "llvm/ADT/ArrayRef.h"

namespace mille {

Recipe recipeOf(transformer::DrawnAttr drawn);

// Draws the elements first, first + 1, ... of `drawn`, rounded to f32.
void draw(transformer::DrawnAttr drawn, int64_t first,
          llvm::MutableArrayRef<float> into);

} // namespace mille
