// Prints differences against their bounds. Numbers come from Compare.cpp and
// from the tolerances file; none is written here.
#include "compiler/interpret/Judge.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"

using namespace mille;

namespace {
struct Row {
  const char *name;
  double relative;
};
constexpr Row rows[] = {
#include "Tolerances.inc"
};
} // namespace

double mille::toleranceOf(llvm::StringRef name) {
  for (const Row &row : rows)
    if (name == row.name)
      return row.relative;
  llvm_unreachable("no such tolerance");
}

bool mille::judge(
    llvm::raw_ostream &out, llvm::StringRef heading,
    llvm::ArrayRef<Difference> differences,
    llvm::function_ref<double(const Difference &)> relativeBound) {
  out << heading << '\n';
  size_t width = 0;
  for (const Difference &difference : differences)
    width = std::max(width, difference.name.size());
  bool all = true;
  for (const Difference &difference : differences) {
    double bound = relativeBound(difference) * difference.maxExpected;
    bool good = difference.maxError <= bound;
    all &= good;
    out << "  " << llvm::left_justify(difference.name, width)
        << llvm::format("  max error %.3g of %.4g  bound %.3g  cosine %.9f",
                        difference.maxError, difference.maxExpected, bound,
                        difference.cosine)
        << (good ? "  ok" : "  DIFFERS");
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
