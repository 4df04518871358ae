// The interface of ops that have an adjoint. compiler/differentiate implements
// it; must not know an adjoint.
#include "dialects/transformer/Differentiable.h"

using namespace mlir;

#include "dialects/transformer/Differentiable.cpp.inc"
