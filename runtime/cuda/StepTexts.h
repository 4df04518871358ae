// The runtime's own steps in PTX, which clang makes of runtime/steps.
#pragma once
#include "runtime/steps/StepCalls.h"

namespace mille::cuda {

const char *textOf(Step step);
const char *peakText();

} // namespace mille::cuda
