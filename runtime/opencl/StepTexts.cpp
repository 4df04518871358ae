// The runtime's own steps in OpenCL C (runtime/steps).
#include "runtime/opencl/Device.h"
#include "steps/opencl_texts.h"

namespace mille::opencl {

const char *textOf(Step step) {
  constexpr const char *texts[stepCount] = {
      textGather, textMean,     textSimilarity, textRoute,
      textSort,   textRemember, textRecur};
  return texts[(int)step];
}

const char *peakText() { return textPeak; }

} // namespace mille::opencl
