// The runtime's own steps in PTX, which clang makes of runtime/steps.
#pragma once
#include "runtime/steps/StepCalls.h"

namespace mille::cuda {

// early: of a kernel that waits itself for those before it; null where the step
// has no such text. It needs compute capability 9.0.
const char *textOf(Step step, bool early);
const char *peakText();

} // namespace mille::cuda
