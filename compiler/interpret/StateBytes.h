// The rows of a state in bytes: of each head its integers, its step, and zeros
// in the place of the step's other bytes.
// Must not know panels.
#pragma once
#include "compiler/interpret/Numbers.h"

#include <cmath>

namespace mille::interpreter {

// The rows of `heads` heads as a state of `columns` columns holds them: each
// row of a head in 127ths of its largest number.
inline Tensor inBytes(const Tensor &from, int64_t heads, int64_t columns) {
  const int64_t rows = rowsOf(from), size = columnsOf(from) / heads,
                each = columns / heads;
  Tensor to = zeros({rows, columns});
  for (int64_t i = 0; i < rows * heads; ++i) {
    const double *row = from.numbers.data() + i * size;
    double *held = to.numbers.data() + i * each, most = 0;
    for (int64_t d = 0; d < size; ++d)
      most = std::isnan(row[d]) ? row[d] : std::fmax(most, std::fabs(row[d]));
    const double step = held[size] = most / 127;
    for (int64_t d = 0; d < size && step > 0 && std::isfinite(step); ++d)
      held[d] = std::nearbyint(row[d] / step);
  }
  return to;
}

// What `size` columns of each head stand for.
inline Tensor outOfBytes(const Tensor &held, int64_t heads, int64_t size) {
  const int64_t rows = rowsOf(held), each = columnsOf(held) / heads;
  Tensor to = zeros({rows, heads * size});
  for (int64_t i = 0; i < rows * heads; ++i)
    for (int64_t d = 0; d < size; ++d)
      to.numbers[i * size + d] =
          held.numbers[i * each + d] * held.numbers[i * each + size];
  return to;
}

} // namespace mille::interpreter
