// Quantises weights to bytes with a scale per row, and measures their columns.
// Must give the same bytes in every process: arithmetic is in double, and a
// scale is rounded once to f32.
#include "compiler/weights/Expression.h"
#include "dialects/transformer/E4m3.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mille;
using mille::transformer::ByteKind;

namespace {

double mostOf(ByteKind kind) {
  return kind == ByteKind::e4m3 ? mostE4m3
                                : 127; // -128 is not used, for symmetry
}

// The nearest number that a byte can be.
double rounded(double number, ByteKind kind) {
  if (kind == ByteKind::e4m3)
    return widenE4m3(narrowE4m3(number));
  return std::clamp(std::nearbyint(number), -mostOf(kind), mostOf(kind));
}

// Computes one number for each row of `value` along its last dimension.
class PerRow : public Expression {
public:
  using Expression::rows;
  PerRow(ExpressionPtr from, bool column) : value(std::move(from)) {
    shape.assign(value->shape.begin(), value->shape.end() - 1);
    if (column)
      shape.push_back(1);
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    const int64_t length = value->shape.back();
    std::vector<double> block(value->rowSize());
    for (int64_t i = first; i < first + count; ++i) {
      value->rows(i, 1, block.data());
      for (auto row = block.begin(); row != block.end(); row += length)
        *into++ = of(&*row, length);
    }
  }

private:
  virtual double of(const double *row, int64_t length) const = 0;
  ExpressionPtr value;
};

double scaleOf(const double *row, int64_t length, ByteKind kind) {
  double largest = 0;
  for (int64_t k = 0; k < length; ++k)
    largest = std::max(largest, std::fabs(row[k]));
  return largest > 0 ? double(float(largest / mostOf(kind))) : 1;
}

class RowScales final : public PerRow {
public:
  RowScales(ExpressionPtr value, ByteKind kind)
      : PerRow(std::move(value), false), kind(kind) {}

private:
  double of(const double *row, int64_t length) const override {
    return scaleOf(row, length, kind);
  }
  ByteKind kind;
};

class RowSums final : public PerRow {
public:
  explicit RowSums(ExpressionPtr value) : PerRow(std::move(value), true) {}

private:
  double of(const double *row, int64_t length) const override {
    double sum = 0;
    for (int64_t k = 0; k < length; ++k)
      sum += row[k];
    return sum;
  }
};

class Quantized final : public Expression {
public:
  using Expression::rows;
  Quantized(ExpressionPtr from, ByteKind kind)
      : value(std::move(from)), kind(kind) {
    shape = value->shape;
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    value->rows(first, count, into);
    const int64_t length = shape.back();
    for (double *end = into + count * rowSize(); into != end; into += length) {
      const double scale = scaleOf(into, length, kind);
      for (int64_t k = 0; k < length; ++k)
        into[k] = rounded(into[k] / scale, kind);
    }
  }

private:
  ExpressionPtr value;
  ByteKind kind;
};

// Reads the value once and keeps the result, which is small.
class ColumnRms final : public Expression {
public:
  using Expression::rows;
  explicit ColumnRms(ExpressionPtr value) : ratios(value->rowSize()) {
    shape = {1, value->rowSize()};
    std::vector<double> row(value->rowSize());
    for (int64_t i = 0; i < value->rowCount(); ++i) {
      value->rows(i, 1, row.data());
      for (size_t k = 0; k < row.size(); ++k)
        ratios[k] += row[k] * row[k];
    }
    const double mean =
        std::accumulate(ratios.begin(), ratios.end(), 0.0) / ratios.size();
    for (double &ratio : ratios)
      ratio = ratio == 0 ? 1 : std::sqrt(ratio / mean);
  }
  void rows(int64_t, int64_t count, double *into) const override {
    if (count)
      std::copy(ratios.begin(), ratios.end(), into);
  }

private:
  std::vector<double> ratios;
};

} // namespace

ExpressionPtr mille::rowScales(ExpressionPtr value, ByteKind kind) {
  return std::make_unique<RowScales>(std::move(value), kind);
}

ExpressionPtr mille::quantized(ExpressionPtr value, ByteKind kind) {
  return std::make_unique<Quantized>(std::move(value), kind);
}

ExpressionPtr mille::rowSums(ExpressionPtr value) {
  return std::make_unique<RowSums>(std::move(value));
}

ExpressionPtr mille::columnRms(ExpressionPtr value) {
  return std::make_unique<ColumnRms>(std::move(value));
}
