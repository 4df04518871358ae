// A kernel's scalar region, element by element in registers.
// Must not load or store.
#pragma once
#include "compiler/kernels/Formulas.h"
#include "compiler/nvvm/Builder.h"

#include <array>

namespace mille::nvvm {

// Functions are computed by the units that approximate. Relative errors:
//   exp, exp2   2^-22 + |x| 2^-24, of results below 2^-126: 0
//   a / b       2^-22, of |b| from 2^126 on: 0
//   sqrt, rsqrt 2^-22
//   log         2^-22 (1 + |log x|) absolute
//   erf, erfc   2e-7 absolute
//   GELU        1e-7 |x| absolute; its derivative 2e-7: at the infinities their
//               limits
//   tanh        2^-10.9 for results that are rounded to bf16, which keeps
//               2^-9; 2e-7 absolute for others
// A product that only one sum reads is added unrounded (fma).
class Region {
public:
  // toBf16: the result is rounded to bf16.
  Region(Builder &builder, const ScalarProgram &program, bool toBf16);

  Reg apply(llvm::ArrayRef<Reg> arguments);

private:
  Reg step(const ScalarStep &step, llvm::ArrayRef<Reg> values);
  Reg fused(const ScalarStep &step, llvm::ArrayRef<Reg> values);
  Reg comparison(const ScalarStep &step, llvm::ArrayRef<Reg> values);
  Reg exponential(Reg x);
  Reg tanhOf(Reg x);
  // part * erfc(scale * size) for size >= 0.
  Reg tailOf(Reg size, double scale = 1, double part = 1);
  Reg erfOf(Reg z);
  Reg erfcOf(Reg z);
  Reg geluOf(Reg x);
  Reg geluSlopeOf(Reg x);
  std::array<int, 3> operandsOf(const ScalarStep &step) const;
  // The product that this value is, if nothing else reads it and its factors
  // are computed: those of a formula are not.
  const ScalarStep *onlyProduct(int value) const;

  Builder &b;
  const ScalarProgram &program;
  Formulas formulas;
  bool toBf16;
  std::vector<int> reads; // of each value
};

// Empty, or why no region of this kind is compiled.
std::string whyNoRegion(const ScalarProgram &program);
// Instructions for one element, for the model of the tiles.
unsigned instructionsOf(const ScalarProgram &program);

} // namespace mille::nvvm
