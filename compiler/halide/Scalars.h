// Scalar programs on vectors. Must not know which kernel they are part of.
#pragma once
#include "compiler/halide/Spec.h"

#include "Halide.h"

namespace mille {

// The value of a program on f32 arguments, for an out of `element`, on machines
// that pick or do not.
Halide::Expr evaluate(const ScalarProgram &program,
                      const std::vector<Halide::Expr> &arguments,
                      Element element, bool picks);

} // namespace mille
