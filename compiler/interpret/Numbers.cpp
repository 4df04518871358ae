// Norms on rows of doubles, as the formulas say.
// Plain and slow; must not call anything the generators use.
#include "compiler/interpret/Numbers.h"

#include <limits>

using namespace mille;
using namespace mille::interpreter;
using mille::transformer::LengthKind;

int64_t mille::interpreter::elementsOf(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

void mille::interpreter::normRow(kernel::RowNormKind kind, double eps,
                                 double *row, int64_t n) {
  using kernel::RowNormKind;
  double mean = 0, square = 0;
  if (kind == RowNormKind::layer) {
    for (int64_t i = 0; i < n; ++i)
      mean += row[i];
    mean /= n;
  }
  for (int64_t i = 0; i < n; ++i)
    square += (row[i] - mean) * (row[i] - mean);
  double length =
      kind == RowNormKind::l2 ? std::sqrt(square) : std::sqrt(square / n + eps);
  if (kind == RowNormKind::l2 && length < eps)
    length = eps;
  // A row of zeros under l2_norm without eps stays 0.
  double factor = length == 0 ? 0 : 1 / length;
  for (int64_t i = 0; i < n; ++i)
    row[i] = (row[i] - mean) * factor;
}

double mille::interpreter::roundedToHalf(double x) {
  constexpr double most = 65504;
  if (!std::isfinite(x) || x == 0)
    return x;
  if (std::abs(x) > most)
    return std::copysign(most, x);
  int exponent; // as below; f16 has 11 bits, and none below 2^-24
  std::frexp(x, &exponent);
  const int last = std::max(exponent - 11, -24);
  return std::ldexp(std::nearbyint(std::ldexp(x, -last)), last);
}

double mille::interpreter::roundedToBfloat16(double x) {
  if (!std::isfinite(x) || x == 0)
    return x;
  int exponent; // x = fraction * 2^exponent, |fraction| in [1/2, 1)
  double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

double mille::interpreter::lengthFactor(transformer::LengthScaleAttr scale,
                                        int64_t seen, int64_t i,
                                        double position) {
  switch (scale.getKind()) {
  case LengthKind::log_keys:
    return std::log(std::max(double(seen), double(scale.getFloor()))) /
           std::log(double(scale.getBase()));
  case LengthKind::log_position:
    return std::max(1.0, std::log(double(i + 1)) /
                             std::log(double(scale.getBase())));
  case LengthKind::log_floor:
    return 1 + double(scale.getBeta()) *
                   std::log(1 + std::floor((position + scale.getOffset()) /
                                           double(scale.getPeriod())));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

int64_t mille::interpreter::tokensShown(const Tensor *mask, int64_t sequence,
                                        int64_t tokens) {
  int64_t shown = tokens;
  while (mask && shown > 0 && mask->numbers[sequence * tokens + shown - 1] == 0)
    --shown;
  return shown;
}
