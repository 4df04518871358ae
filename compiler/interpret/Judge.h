// The verdict on differences: bounds by name, and the table `mille verify`
// prints. Must not run anything.
#pragma once
#include "compiler/interpret/Compare.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

// The relative bound of a row of test/numerics/tolerances.json:
// "reference_double", "reference_rounded", "compiled_f32", ...
double toleranceOf(llvm::StringRef name);

// One line per tensor under `heading`: error, largest value, bound, verdict and
// where the largest error is. True if every one is within its bound.
bool judge(llvm::raw_ostream &out, llvm::StringRef heading,
           llvm::ArrayRef<Difference> differences,
           llvm::function_ref<double(const Difference &)> relativeBound);

} // namespace mille
