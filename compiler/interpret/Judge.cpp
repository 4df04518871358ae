// Prints differences against their bounds. Must not hold numbers: Compare.cpp
// and the tolerances file give them.
#include "compiler/interpret/Judge.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"

using namespace mille;

namespace {
struct Row {
  const char *name;
  Tolerance tolerance;
};
constexpr Row rows[] = {
#include "Tolerances.inc"
};
} // namespace

Tolerance mille::toleranceOf(llvm::StringRef name) {
  for (const Row &row : rows)
    if (name == row.name)
      return row.tolerance;
  llvm_unreachable("no such tolerance");
}

double mille::boundOf(const Difference &difference,
                      const Tolerance &tolerance) {
  return tolerance.relative * difference.maxExpected + tolerance.absolute;
}

bool mille::isWithin(const Difference &difference, const Tolerance &tolerance) {
  const bool anyCosine = tolerance.cosine <= -1; // rounding gives less than -1
  return difference.maxError <= boundOf(difference, tolerance) &&
         (anyCosine || difference.cosine >= tolerance.cosine);
}

bool mille::judge(
    llvm::raw_ostream &out, llvm::StringRef heading,
    llvm::ArrayRef<Difference> differences,
    llvm::function_ref<Tolerance(const Difference &)> toleranceFor) {
  out << heading << '\n';
  size_t width = 0;
  for (const Difference &difference : differences)
    width = std::max(width, difference.name.size());
  bool all = !differences.empty(); // of nothing nothing is known
  for (const Difference &difference : differences) {
    const Tolerance tolerance = toleranceFor(difference);
    const bool good = isWithin(difference, tolerance);
    all &= good;
    out << "  " << llvm::left_justify(difference.name, width)
        << llvm::format("  max error %.3g of %.4g  bound %.3g  cosine %.9f",
                        difference.maxError, difference.maxExpected,
                        boundOf(difference, tolerance), difference.cosine);
    if (tolerance.cosine > -1)
      out << llvm::format(" of %.4g", tolerance.cosine);
    out << (good ? "  ok" : "  DIFFERS");
    if (!good) {
      out << " at [";
      llvm::interleaveComma(difference.where, out);
      out << llvm::format("]: %.9g but %.9g is expected", difference.got,
                          difference.expected);
    }
    out << '\n';
  }
  return all;
}
