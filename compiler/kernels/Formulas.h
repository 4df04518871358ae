// Formulas in a scalar program that are computed as one function. Must not know
// how.
#pragma once
#include "compiler/kernels/Spec.h"

namespace mille {

class Formulas {
public:
  explicit Formulas(const ScalarProgram &program) : program(program) {}

  // The x of 0.5 x erfc(-x / sqrt 2), in any order of its products, or -1.
  int geluOf(const ScalarStep &step) const;
  // The x of 0.5 erfc(t) + 0.5 x (c (exp(-t^2) d)) for t = d x, d = -1 / sqrt 2
  // and c = -2 / sqrt pi: what compiler/fuse makes of GELU's derivative; or -1.
  int geluSlopeOf(const ScalarStep &step) const;

private:
  const ScalarStep *step(int value, ScalarOp op) const;
  int scaledBy(int value, double c) const;
  bool isBell(int value, int t) const;

  const ScalarProgram &program;
};

} // namespace mille
