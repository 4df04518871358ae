// Compares differences with bounds, which have names, and prints the table of
// `mille verify`. Must not run anything.
#pragma once
#include "compiler/interpret/Compare.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

// A bound for the difference of a tensor from the expected one.
struct Tolerance {
  double relative; // the largest error, relative to the largest number
  double cosine;   // the least cosine of the two as vectors; -1: any
  double absolute; // what the error may have beside that
};

// A row of tolerances.json: "reference_double", "compiled_f32",
// "compiled_bf16", ...
Tolerance toleranceOf(llvm::StringRef name);

double boundOf(const Difference &difference, const Tolerance &tolerance);
bool isWithin(const Difference &difference, const Tolerance &tolerance);

// One line per tensor under `heading`: error, largest value, bound, verdict and
// where the largest error is. True if there are any, all within their bounds.
bool judge(llvm::raw_ostream &out, llvm::StringRef heading,
           llvm::ArrayRef<Difference> differences,
           llvm::function_ref<Tolerance(const Difference &)> toleranceFor);

} // namespace mille
