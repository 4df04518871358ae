// Scalar programs on vectors. Must not know the kernel that holds them.
#pragma once
#include "compiler/kernels/Spec.h"

#include "Halide.h"

namespace mille {

// The value of a program on f32 arguments, for an out of `element`; `picks`
// says whether the machine picks.
Halide::Expr evaluate(const ScalarProgram &program,
                      const std::vector<Halide::Expr> &arguments,
                      Element element, bool picks);

} // namespace mille
