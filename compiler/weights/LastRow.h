// A value whose rows are read in parts. A row may take as many numbers as a
// tensor has, and the next part is most often of the same row: so the last one
// is kept. Must hold one row at a time; one thread reads it.
#pragma once
#include "compiler/weights/Expression.h"

#include <tuple>
#include <utility>
#include <vector>

namespace mille {

class LastRow {
public:
  explicit LastRow(ExpressionPtr value) : value(std::move(value)) {}
  const Expression *operator->() const { return value.get(); }

  template <typename Number> const Number *at(int64_t number) const {
    return kept<Number>(number, value->rowSize(),
                        [&](Number *into) { value->rows(number, 1, into); });
  }
  // A row's bytes, where the value has an encoding.
  const uint8_t *blocksAt(int64_t number) const {
    const int64_t bytes = *bytesOfRow(*value->encoding(), value->rowSize());
    return kept<uint8_t>(
        number, bytes, [&](uint8_t *into) { value->blocks(number, 1, into); });
  }

private:
  template <typename Number> struct Kept {
    int64_t number = -1;
    std::vector<Number> row;
  };
  template <typename Number, typename Read>
  const Number *kept(int64_t number, int64_t size, Read read) const {
    auto &[last, row] = std::get<Kept<Number>>(rows);
    if (last != number) {
      row.resize(size);
      read(row.data());
      last = number;
    }
    return row.data();
  }

  ExpressionPtr value;
  mutable std::tuple<Kept<float>, Kept<double>, Kept<uint8_t>> rows;
};

} // namespace mille
