// Each activation as a function of one number. Kernels must not use it: tests
// compare them with it.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::transformer {

double activation(Activation function, double x);

} // namespace mille::transformer
