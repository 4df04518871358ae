// Each activation as a function of one number, and its derivative. Kernels must
// not use them: tests compare kernels with them.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::transformer {

// gelu_erf has its limits at the infinities; what multiplies by a sigmoid has
// there what its formula gives, which is no number.
double activation(Activation function, double x);
// 0 at a kink.
double activationSlope(Activation function, double x);

} // namespace mille::transformer
