// Numbers that are hard on kernels: ones that cancel, are huge beside tiny,
// subnormal or 0, and one NaN or one infinity among others.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>
#include <cstdint>

namespace mille::test {

enum class Hostile { cancelling, mixed, subnormal, zeros, oneNaN, oneInfinity };
constexpr Hostile hostileKinds[] = {Hostile::cancelling, Hostile::mixed,
                                    Hostile::subnormal,  Hostile::zeros,
                                    Hostile::oneNaN,     Hostile::oneInfinity};

inline const char *wordOf(Hostile kind) {
  const char *const words[] = {"cancelling", "mixed",   "subnormal",
                               "zeros",      "one NaN", "one infinity"};
  return words[int(kind)];
}

// One number as the kind has it; `odd` follows the number that it cancels.
// pick(n): a number from 0 to n - 1, at random.
inline float spoilt(Hostile kind, float number, float before, bool odd,
                    llvm::function_ref<int64_t(int64_t)> pick) {
  switch (kind) {
  case Hostile::cancelling:
    return odd ? -before : number;
  case Hostile::mixed:
    return number * float(std::pow(10.0, double(pick(19)) - 9));
  case Hostile::subnormal:
    return number * 1e-39f;
  case Hostile::zeros:
    return pick(2) ? 0.0f : -0.0f;
  default:
    return number;
  }
}

// A matrix whose number [m, n] at(m, n) refers to.
template <typename At>
void spoil(Hostile kind, int64_t rows, int64_t columns, const At &at,
           llvm::function_ref<int64_t(int64_t)> pick) {
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < columns; ++n)
      at(m, n) = spoilt(kind, at(m, n), n ? at(m, n - 1) : 0, n % 2, pick);
  if (kind == Hostile::oneNaN || kind == Hostile::oneInfinity)
    at(rows / 2, columns / 3) = kind == Hostile::oneNaN ? NAN : INFINITY;
}

} // namespace mille::test
