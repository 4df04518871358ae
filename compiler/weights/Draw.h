// Initial values by recipe: element i of a stream is a function of (seed,
// stream, i) alone, so that neither order nor threads nor machine matter.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "llvm/ADT/ArrayRef.h"

namespace mille {

// Elements first, first + 1, ... of `recipe`, rounded to f32.
void draw(transformer::DrawnAttr recipe, int64_t first,
          llvm::MutableArrayRef<float> into);

} // namespace mille
