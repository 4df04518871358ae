// The first nodes of value expressions; Rearrange.cpp and Compute.cpp have
// more. Nodes that move numbers keep f32 as f32. Arithmetic must be in double,
// and a request for f32 rounds the result once.
#include "compiler/weights/Expression.h"
#include "compiler/weights/Draw.h"
#include "compiler/weights/Moves.h"

#include <algorithm>
#include <cmath>

using namespace mille;

int64_t Expression::rowSize() const {
  int64_t size = 1;
  for (size_t axis = 1; axis < shape.size(); ++axis)
    size *= shape[axis];
  return size;
}

// Converts each number of the rows, some rows at a time.
template <typename Number, typename Convert>
static void convertRows(const Expression &value, int64_t first, int64_t count,
                        Number *into, Convert convert) {
  const int64_t size = value.rowSize();
  const int64_t step = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, size));
  std::vector<double> exact(std::min(count, step) * size);
  for (int64_t done = 0; done < count; done += step) {
    const int64_t now = std::min(step, count - done);
    value.rows(first + done, now, exact.data());
    std::transform(exact.begin(), exact.begin() + now * size,
                   into + done * size, convert);
  }
}

void Expression::rows(int64_t first, int64_t count, float *into) const {
  convertRows(*this, first, count, into, [](double x) { return float(x); });
}

void Expression::bytes(int64_t first, int64_t count, int8_t *into) const {
  convertRows(*this, first, count, into, [](double x) {
    return int8_t(std::clamp(std::nearbyint(x), -128.0, 127.0));
  });
}

void Expression::columns(int64_t first, int64_t count, float *into,
                         int64_t stride) const {
  const int64_t depth = shape[1];
  std::vector<float> block(count * depth);
  rows(first, count, block.data());
  for (int64_t k0 = 0; k0 < depth; k0 += 16)
    for (int64_t j = 0; j < count; ++j)
      for (int64_t k = k0; k < std::min(depth, k0 + 16); ++k)
        into[k * stride + j] = block[j * depth + k];
}

std::optional<Encoding>
mille::encodingOf(llvm::ArrayRef<ExpressionPtr> values) {
  std::optional<Encoding> first = values[0]->encoding();
  for (const ExpressionPtr &value : values)
    if (value->encoding() != first)
      return std::nullopt;
  return first;
}

namespace {

class Stored final : public Moves<Stored> {
public:
  explicit Stored(Strided from) : view(std::move(from)) { shape = view.shape; }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    view.rows(first, count, into);
  }
  void columns(int64_t first, int64_t count, float *into,
               int64_t stride) const override {
    view.columns(first, count, into, stride);
  }
  const Strided *strided() const override { return &view; }
  std::optional<Encoding> encoding() const override {
    return view.shape.size() > 1 && view.inWholeBlocks()
               ? std::optional(view.tensor->type)
               : std::nullopt;
  }
  void blocks(int64_t first, int64_t count, uint8_t *into) const override {
    view.blocks(first, count, into);
  }

private:
  Strided view;
};

class Drawn final : public Expression {
public:
  explicit Drawn(transformer::DrawnAttr recipe) : recipe(recipe) {
    shape.assign(recipe.getType().getShape().begin(),
                 recipe.getType().getShape().end());
  }
  void rows(int64_t first, int64_t count, float *into) const override {
    const int64_t size = rowSize();
    draw(recipe, first * size, {into, size_t(count * size)});
  }
  // A drawn number is an f32, so that a run uses the numbers that `mille init`
  // writes.
  void rows(int64_t first, int64_t count, double *into) const override {
    float some[256];
    const int64_t size = rowSize(), end = (first + count) * size;
    for (int64_t at = first * size; at < end; at += 256) {
      const size_t now = std::min<int64_t>(256, end - at);
      draw(recipe, at, {some, now});
      into = std::copy(some, some + now, into);
    }
  }

private:
  transformer::DrawnAttr recipe;
};

class Number final : public Moves<Number> {
public:
  explicit Number(double value) : value(value) { shape = {1}; }
  template <typename Kind> void move(int64_t, int64_t count, Kind *into) const {
    std::fill(into, into + count, Kind(value));
  }

private:
  double value;
};

class Slice final : public Moves<Slice> {
public:
  Slice(ExpressionPtr value, int64_t axis, int64_t offset, int64_t size,
        int64_t stride)
      : value(std::move(value)), axis(axis), offset(offset), stride(stride) {
    shape = this->value->shape;
    shape[axis] = size;
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    if (axis == 0) {
      if (stride == 1)
        return value->rows(first + offset, count, into);
      for (int64_t i = 0; i < count; ++i)
        value->rows(offset + (first + i) * stride, 1, into + i * rowSize());
      return;
    }
    // [outer, extent, inner] of each row -> [outer, size, inner]
    int64_t outer = 1, inner = 1;
    for (int64_t i = 1; i < axis; ++i)
      outer *= shape[i];
    for (size_t i = axis + 1; i < shape.size(); ++i)
      inner *= shape[i];
    const int64_t extent = value->shape[axis];
    std::vector<Number> row(value->rowSize());
    for (int64_t i = 0; i < count; ++i) {
      value->rows(first + i, 1, row.data());
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t s = 0; s < shape[axis]; ++s) {
          auto from = row.begin() + (o * extent + offset + s * stride) * inner;
          into = std::copy(from, from + inner, into);
        }
    }
  }

  std::optional<Encoding> encoding() const override {
    return axis == 0 ? value->encoding() : std::nullopt;
  }
  void blocks(int64_t first, int64_t count, uint8_t *into) const override {
    const int64_t bytes = *bytesOfRow(*encoding(), rowSize());
    for (int64_t i = first; i < first + count; ++i, into += bytes)
      value->blocks(offset + i * stride, 1, into);
  }

private:
  ExpressionPtr value;
  int64_t axis, offset, stride;
};

// The transpose of an operand that is not a stored tensor. It holds the whole
// operand in memory.
class Transpose final : public Moves<Transpose> {
public:
  explicit Transpose(ExpressionPtr value) {
    shape = {value->shape[1], value->shape[0]};
    held.resize(value->elements());
    value->rows(0, value->rowCount(), held.data());
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    for (int64_t row = first; row < first + count; ++row)
      for (int64_t i = 0; i < shape[1]; ++i)
        *into++ = Number(held[i * shape[0] + row]);
  }

private:
  std::vector<double> held;
};

class Concat final : public Moves<Concat> {
public:
  explicit Concat(std::vector<ExpressionPtr> all) : values(std::move(all)) {
    shape = values[0]->shape;
    for (size_t i = 1; i < values.size(); ++i)
      shape[0] += values[i]->shape[0];
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    const int64_t size = rowSize();
    each(first, count, [&](const Expression &part, int64_t from, int64_t now) {
      part.rows(from, now, into);
      into += now * size;
    });
  }
  void columns(int64_t first, int64_t count, float *into,
               int64_t stride) const override {
    each(first, count, [&](const Expression &part, int64_t from, int64_t now) {
      part.columns(from, now, into, stride);
      into += now;
    });
  }
  std::optional<Encoding> encoding() const override {
    return encodingOf(values);
  }
  void blocks(int64_t first, int64_t count, uint8_t *into) const override {
    const int64_t bytes = *bytesOfRow(*encoding(), rowSize());
    each(first, count, [&](const Expression &part, int64_t from, int64_t now) {
      part.blocks(from, now, into);
      into += now * bytes;
    });
  }

private:
  template <typename Use>
  void each(int64_t first, int64_t count, Use use) const {
    for (const ExpressionPtr &part : values) {
      const int64_t rows = part->rowCount();
      if (first < rows && count > 0) {
        const int64_t now = std::min(count, rows - first);
        use(*part, first, now);
        first += now;
        count -= now;
      }
      first -= rows;
    }
  }
  std::vector<ExpressionPtr> values;
};

class Times final : public Expression {
public:
  using Expression::rows;
  Times(ExpressionPtr value, ExpressionPtr factor) : value(std::move(value)) {
    shape = this->value->shape;
    factors.resize(factor->elements());
    factor->rows(0, factor->rowCount(), factors.data());
    byColumn = factors.size() > 1 && factor->shape.size() == 2;
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    value->rows(first, count, into);
    const int64_t size = rowSize();
    for (int64_t row = 0; row < count; ++row) {
      const int64_t at = factors.size() == 1 || byColumn ? 0 : first + row;
      for (int64_t i = 0; i < size; ++i)
        *into++ *= factors[byColumn ? i : at];
    }
  }

private:
  ExpressionPtr value;
  std::vector<double> factors;
  bool byColumn;
};

class Plus final : public Expression {
public:
  using Expression::rows;
  Plus(ExpressionPtr value, ExpressionPtr term)
      : value(std::move(value)), term(std::move(term)) {
    shape = this->value->shape;
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    value->rows(first, count, into);
    const int64_t size = count * rowSize();
    if (term->elements() == 1) {
      double one;
      term->rows(0, 1, &one);
      for (int64_t i = 0; i < size; ++i)
        into[i] += one;
      return;
    }
    const bool toRows = term->shape.size() < shape.size();
    std::vector<double> other(toRows ? term->elements() : size);
    term->rows(toRows ? 0 : first, toRows ? term->rowCount() : count,
               other.data());
    for (int64_t i = 0; i < size; ++i)
      into[i] += other[toRows ? i % rowSize() : i];
  }

private:
  ExpressionPtr value, term;
};

// [accumulators * N, K] -> [panels, ceil(K / group), panel * group]. A row of
// the result is a panel.
class Pack final : public Expression {
public:
  Pack(ExpressionPtr from, Panels panels)
      : value(std::move(from)), width(panels.width), group(panels.group),
        accumulators(panels.accumulators), half(panels.columns()),
        outputs(value->shape[0] / accumulators) {
    shape = panels.shapeOf(value->shape);
  }
  void rows(int64_t first, int64_t count, float *into) const override {
    if (group > 1)
      return scatter(first, count, into);
    const int64_t depth = shape[1];
    for (int64_t p = first; p < first + count; ++p, into += depth * width)
      for (int64_t a = 0; a < accumulators; ++a) {
        const int64_t have = present(p);
        value->columns(a * outputs + p * half, have, into + a * half, width);
        for (int64_t k = 0; have < half && k < depth; ++k)
          std::fill_n(into + k * width + a * half + have, half - have, 0.0f);
      }
  }
  void rows(int64_t first, int64_t count, double *into) const override {
    scatter(first, count, into);
  }

private:
  template <typename Number>
  void scatter(int64_t first, int64_t count, Number *into) const {
    const int64_t depth = value->shape[1], step = width * group;
    std::vector<Number> row(depth);
    for (int64_t p = first; p < first + count; ++p, into += rowSize()) {
      std::fill_n(into, rowSize(), Number(0));
      for (int64_t a = 0; a < accumulators; ++a)
        for (int64_t j = 0; j < present(p); ++j) {
          value->rows(a * outputs + p * half + j, 1, row.data());
          Number *column = into + (a * half + j) * group;
          for (int64_t k = 0; k < depth; ++k)
            column[k / group * step + k % group] = row[k];
        }
    }
  }
  int64_t present(int64_t p) const {
    return std::min(half, outputs - p * half);
  }
  ExpressionPtr value;
  int64_t width, group, accumulators, half, outputs;
};

} // namespace

ExpressionPtr mille::stored(Strided view) {
  return std::make_unique<Stored>(std::move(view));
}

ExpressionPtr mille::drawn(transformer::DrawnAttr recipe) {
  return std::make_unique<Drawn>(recipe);
}

ExpressionPtr mille::number(double value) {
  return std::make_unique<Number>(value);
}

ExpressionPtr mille::slice(ExpressionPtr value, int64_t axis, int64_t offset,
                           int64_t size, int64_t stride) {
  if (const Strided *view = value->strided()) {
    Strided part = *view;
    part.slice(axis, offset, size, stride);
    return stored(std::move(part));
  }
  return std::make_unique<Slice>(std::move(value), axis, offset, size, stride);
}

ExpressionPtr mille::transpose(ExpressionPtr value) {
  if (const Strided *view = value->strided()) {
    Strided turned = *view;
    turned.transpose();
    if (turned.alongRows() || !isBlocks(turned.tensor->type))
      return stored(std::move(turned));
  }
  return std::make_unique<Transpose>(std::move(value));
}

ExpressionPtr mille::concat(std::vector<ExpressionPtr> values) {
  return std::make_unique<Concat>(std::move(values));
}

ExpressionPtr mille::times(ExpressionPtr value, ExpressionPtr factor) {
  return std::make_unique<Times>(std::move(value), std::move(factor));
}

ExpressionPtr mille::plus(ExpressionPtr value, ExpressionPtr term) {
  return std::make_unique<Plus>(std::move(value), std::move(term));
}

ExpressionPtr mille::pack(ExpressionPtr value, Panels panels) {
  if (value->shape.size() == 3) {
    std::vector<ExpressionPtr> entries = entriesOf(std::move(value));
    for (ExpressionPtr &entry : entries)
      entry = pack(std::move(entry), panels);
    return stack(std::move(entries));
  }
  return std::make_unique<Pack>(std::move(value), panels);
}
