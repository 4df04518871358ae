// What each activation is, as a function of one number. Not for kernels: they
// are held against it.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::transformer {

double activation(Activation function, double x);

} // namespace mille::transformer
