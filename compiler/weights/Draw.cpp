// The runtime's draws, by the model's words. Must not draw otherwise: a trainer
// draws the same numbers.
#include "compiler/weights/Draw.h"

using namespace mille;
using transformer::Distribution;

static uint32_t codeOf(Distribution distribution) {
  switch (distribution) {
  case Distribution::fixed:
    return MILLE_DRAW_FIXED;
  case Distribution::uniform:
    return MILLE_DRAW_UNIFORM;
  case Distribution::truncated_normal:
    return MILLE_DRAW_TRUNCATED_NORMAL;
  case Distribution::normal:
    return MILLE_DRAW_NORMAL;
  }
  llvm_unreachable("a Distribution has one of the values above");
}

Recipe mille::recipeOf(transformer::DrawnAttr drawn) {
  const llvm::StringRef stream = drawn.getStream();
  return {codeOf(drawn.getDistribution()),
          drawKey(drawn.getSeed(), stream.data(), stream.size()),
          drawn.getMean(), drawn.getStd(), drawn.getCut()};
}

void mille::draw(transformer::DrawnAttr drawn, int64_t first,
                 llvm::MutableArrayRef<float> into) {
  static const uint64_t features = mille_cpu_features();
  draw(recipeOf(drawn), uint64_t(first), into.data(), into.size(), features);
}
