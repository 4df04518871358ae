// The verdict on differences: bounds by name, and the table `mille verify`
// prints. Must not run anything.
#pragma once
#include "compiler/interpret/Compare.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

// How far a tensor may be from the expected one.
struct Tolerance {
  double relative; // largest error, of the largest number
  double cosine;   // of the two as vectors, at least; -1: any
};

// A row of test/numerics/tolerances.json: "reference_double", "compiled_f32",
// "compiled_bf16", ...
Tolerance toleranceOf(llvm::StringRef name);

// One line per tensor under `heading`: error, largest value, bound, verdict and
// where the largest error is. True if every one is within its bound.
bool judge(llvm::raw_ostream &out, llvm::StringRef heading,
           llvm::ArrayRef<Difference> differences,
           llvm::function_ref<Tolerance(const Difference &)> toleranceFor);

} // namespace mille
