// The runtime's own steps in PTX (runtime/steps).
#include "runtime/cuda/StepTexts.h"
#include "steps/ptx_texts.h"

namespace mille::cuda {

const char *textOf(Step step, bool early) {
  if (early)
    return step == Step::remember ? textRememberEarly : nullptr;
  constexpr const char *texts[stepCount] = {
      textGather, textMean,     textSimilarity, textRoute,
      textSort,   textRemember, textRecur};
  return texts[(int)step];
}

const char *peakText() { return textPeak; }

} // namespace mille::cuda
