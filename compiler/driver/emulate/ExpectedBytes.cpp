// Bytes and the numbers that they stand for. Must not know kernels.
#include "compiler/driver/emulate/ExpectedBytes.h"

#include "dialects/transformer/E4m3.h"

#include <cmath>
#include <tuple>

using namespace mille;
using namespace mille::emulated;

std::vector<double>
mille::emulated::rowsOf(const MatmulSpec &m,
                        const std::vector<Operand> &operands) {
  std::vector<double> numbers = operands[0].numbers;
  for (int64_t row = 0; m.ofBytes() && row < operands[0].rows; ++row) {
    const Operand &parameters = operands[2];
    double *of = &numbers[row * m.inner];
    for (int64_t k = 0; k < m.inner; ++k)
      of[k] = (of[k] - parameters.at(row, 1)) * parameters.at(row, 0);
    of[int64_t(parameters.at(row, 3))] += parameters.at(row, 2);
  }
  return numbers;
}

static void computeFloats(std::vector<Operand> &operands) {
  const Operand &input = operands[0];
  const int64_t columns = input.spec.columns;
  for (int64_t row = 0; row < input.rows; ++row) {
    float largest = 0;
    for (int64_t n = 0; n < columns; ++n)
      largest = std::max(largest, std::fabs(float(input.at(row, n))));
    const float scale = std::max(largest / float(mostE4m3), 0x1p-100f);
    const float inverse = 1 / scale;
    for (int64_t n = 0; n < columns; ++n)
      operands[1].numbers[row * columns + n] =
          widenE4m3(narrowE4m3(float(input.at(row, n)) * inverse));
    operands[2].numbers[row] = scale;
  }
}

void mille::emulated::computeBytes(std::vector<Operand> &operands) {
  if (operands[1].spec.element == Element::e4m3)
    return computeFloats(operands);
  const Operand &input = operands[0];
  const int64_t columns = input.spec.columns;
  constexpr int64_t lanes = 64;
  for (int64_t row = 0; row < input.rows; ++row) {
    auto rankOf = [&](int64_t n) {
      const double x = input.at(row, n);
      return std::make_tuple(std::fabs(x), !std::signbit(x), -(n % lanes),
                             -n / lanes);
    };
    int64_t outlier = 0;
    for (int64_t n = 1; n < columns; ++n)
      if (rankOf(n) > rankOf(outlier))
        outlier = n;
    float low = 0, high = 0;
    for (int64_t n = 0; n < columns; ++n)
      if (n != outlier) {
        low = std::max(low, -float(input.at(row, n)));
        high = std::max(high, float(input.at(row, n)));
      }
    const float range = high + low;
    const float step = std::max(range * (1.0f / 255), 0x1p-100f);
    const float ratio = low / step, inverse = 1 / step;
    const float zero = std::trunc(std::min(ratio + 0.5f, 255.0f));
    for (int64_t n = 0; n < columns; ++n) {
      const float product = float(input.at(row, n)) * inverse;
      const float shifted = product + (zero + 0.5f);
      operands[1].numbers[row * columns + n] =
          n == outlier ? zero : std::trunc(std::min(shifted, 255.0f));
    }
    const double of[] = {step, zero, input.at(row, outlier), double(outlier)};
    std::copy(std::begin(of), std::end(of), &operands[2].numbers[row * 4]);
  }
}
