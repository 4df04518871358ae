// The product of a linear: plain loops over a small tile, so that the compiler
// keeps it in registers. Sums run over k in order, whatever the tile.
#include "compiler/interpret/Loops.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace {

constexpr int64_t tileRows = 4, tileColumns = 4;

// out[0..rows, 0..columns] of one tile; panel is [inner, tileColumns].
template <int64_t rows>
void tile(const double *input, const double *panel, double *out, int64_t inner,
          int64_t outStride, int64_t columns) {
  double sums[rows][tileColumns] = {};
  for (int64_t k = 0; k < inner; ++k)
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t n = 0; n < tileColumns; ++n)
        sums[m][n] += input[m * inner + k] * panel[k * tileColumns + n];
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < columns; ++n)
      out[m * outStride + n] = sums[m][n];
}

bool areZero(const double *numbers, int64_t count) {
  for (int64_t first = 0; first < count; first += 64) {
    bool any = false; // of some at a time, without a branch
    for (int64_t i = first; i < std::min(first + 64, count); ++i)
      any |= numbers[i] != 0;
    if (any)
      return false;
  }
  return true;
}

bool areFinite(const double *numbers, int64_t count) {
  return std::all_of(numbers, numbers + count,
                     [](double x) { return std::isfinite(x); });
}

} // namespace

void mille::interpreter::product(const double *input, const double *weight,
                                 double *out, int64_t rows, int64_t inner,
                                 int64_t columns) {
  std::vector<double> panel(inner * tileColumns); // [inner, tileColumns]
  std::optional<bool> finite;
  for (int64_t first = 0; first < columns; first += tileColumns) {
    int64_t width = std::min(tileColumns, columns - first);
    // A sample of a large model has many rows of zeros. NaN times 0 is NaN.
    if (areZero(weight + first * inner, width * inner)) {
      if (!finite)
        finite = areFinite(input, rows * inner);
      if (*finite) {
        for (int64_t m = 0; m < rows; ++m)
          std::fill_n(out + m * columns + first, width, 0.0);
        continue;
      }
    }
    for (int64_t n = 0; n < tileColumns; ++n)
      for (int64_t k = 0; k < inner; ++k)
        panel[k * tileColumns + n] =
            n < width ? weight[(first + n) * inner + k] : 0.0;
    int64_t m = 0;
    for (; m + tileRows <= rows; m += tileRows)
      tile<tileRows>(input + m * inner, panel.data(), out + m * columns + first,
                     inner, columns, width);
    for (; m < rows; ++m)
      tile<1>(input + m * inner, panel.data(), out + m * columns + first, inner,
              columns, width);
  }
}

void mille::interpreter::productByHead(const double *input,
                                       const double *weight, double *out,
                                       int64_t rows, int64_t heads,
                                       int64_t inner, int64_t columns) {
  std::vector<double> taken(rows * inner), sums(rows * columns);
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t m = 0; m < rows; ++m)
      std::copy_n(input + (m * heads + h) * inner, inner, &taken[m * inner]);
    product(taken.data(), weight + h * columns * inner, sums.data(), rows,
            inner, columns);
    for (int64_t m = 0; m < rows; ++m)
      std::copy_n(&sums[m * columns], columns, out + (m * heads + h) * columns);
  }
}
