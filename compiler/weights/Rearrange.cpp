// Nodes that move rows and dimensions: gather, repeat, reshape, permute, stack.
// Must keep stored tensors as views of their file if possible.
#include "compiler/weights/LastRow.h"
#include "compiler/weights/Moves.h"

#include <algorithm>

using namespace mille;

namespace {

class Gather final : public Moves<Gather> {
public:
  Gather(ExpressionPtr value, llvm::ArrayRef<int64_t> from)
      : value(std::move(value)), from(from.begin(), from.end()) {
    shape = this->value->shape;
    shape[0] = from.size();
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    const int64_t size = rowSize();
    for (int64_t i = first; i < first + count; ++i, into += size)
      if (from[i] < 0)
        std::fill_n(into, size, Number(0));
      else
        value->rows(from[i], 1, into);
  }
  std::optional<Encoding> encoding() const override {
    return llvm::is_contained(from, -1) ? std::nullopt : value->encoding();
  }
  void blocks(int64_t first, int64_t count, uint8_t *into) const override {
    const int64_t bytes = *bytesOfRow(*encoding(), rowSize());
    for (int64_t i = first; i < first + count; ++i, into += bytes)
      value->blocks(from[i], 1, into);
  }

private:
  ExpressionPtr value;
  std::vector<int64_t> from;
};

class Repeat final : public Moves<Repeat> {
public:
  Repeat(ExpressionPtr value, int64_t times, bool each)
      : value(std::move(value)), times(times), each(each) {
    shape = this->value->shape;
    shape[0] *= times;
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    const int64_t size = rowSize(), period = value->rowCount();
    for (int64_t i = first; i < first + count; ++i, into += size)
      value->rows(each ? i / times : i % period, 1, into);
  }

private:
  ExpressionPtr value;
  int64_t times;
  bool each;
};

// A reshape keeps the row-major order, so it reads a range of elements as it
// is: whole rows of the operand, and parts of its first and last row.
class Reshape final : public Moves<Reshape> {
public:
  Reshape(ExpressionPtr value, llvm::ArrayRef<int64_t> to)
      : value(std::move(value)) {
    shape.assign(to.begin(), to.end());
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    const int64_t size = value->rowSize();
    int64_t at = first * rowSize(), now = 0;
    const int64_t end = at + count * rowSize();
    for (; at < end; at += now, into += now) {
      const int64_t within = at % size, whole = (end - at) / size;
      if (within == 0 && whole > 0) {
        value->rows(at / size, whole, into);
        now = whole * size;
      } else {
        now = std::min(size - within, end - at);
        std::copy_n(value.at<Number>(at / size) + within, now, into);
      }
    }
  }

private:
  LastRow value;
};

// Merges the first `leading` dimensions of a view into one, so that their rows
// can be read like the rows of axis 0.
class Collapsed final : public Moves<Collapsed> {
public:
  Collapsed(Strided from, size_t leading)
      : view(std::move(from)), leading(leading) {
    shape.assign(view.shape.begin() + leading, view.shape.end());
    int64_t rows = 1;
    for (size_t axis = 0; axis < leading; ++axis)
      rows *= view.shape[axis];
    shape.insert(shape.begin(), rows);
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    for (int64_t i = first; i < first + count; ++i, into += rowSize()) {
      const Strided row = rowAt(i);
      row.rows(0, row.shape.empty() ? 1 : row.shape[0], into);
    }
  }
  std::optional<Encoding> encoding() const override {
    return view.shape.size() > leading && view.inWholeBlocks()
               ? std::optional(view.tensor->type)
               : std::nullopt;
  }
  void blocks(int64_t first, int64_t count, uint8_t *into) const override {
    const int64_t bytes = *bytesOfRow(*encoding(), rowSize());
    for (int64_t i = first; i < first + count; ++i, into += bytes) {
      const Strided row = rowAt(i);
      row.blocks(0, row.shape[0], into);
    }
  }

private:
  Strided rowAt(int64_t number) const {
    Strided row = view;
    row.shape.assign(view.shape.begin() + leading, view.shape.end());
    row.strides.assign(view.strides.begin() + leading, view.strides.end());
    for (size_t axis = leading; axis-- > 0; number /= view.shape[axis])
      row.offset += number % view.shape[axis] * view.strides[axis];
    return row;
  }

  Strided view;
  size_t leading;
};

// Permutes an operand that is not a stored tensor. It holds the whole operand
// in memory.
class Permute final : public Moves<Permute> {
public:
  Permute(ExpressionPtr value, llvm::ArrayRef<int64_t> order) {
    llvm::SmallVector<int64_t> from(order.size(), 1);
    for (int64_t axis = int64_t(order.size()) - 2; axis >= 0; --axis)
      from[axis] = from[axis + 1] * value->shape[axis + 1];
    for (int64_t axis : order) {
      shape.push_back(value->shape[axis]);
      strides.push_back(from[axis]);
    }
    held.resize(value->elements());
    value->rows(0, value->rowCount(), held.data());
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    for (int64_t row = first; row < first + count; ++row)
      into = walk(1, row * strides[0], into);
  }

private:
  template <typename Number>
  Number *walk(size_t axis, int64_t at, Number *into) const {
    if (axis == shape.size()) {
      *into = Number(held[at]);
      return into + 1;
    }
    for (int64_t i = 0; i < shape[axis]; ++i)
      into = walk(axis + 1, at + i * strides[axis], into);
    return into;
  }
  llvm::SmallVector<int64_t> strides;
  std::vector<double> held;
};

class Stack final : public Moves<Stack> {
public:
  explicit Stack(std::vector<ExpressionPtr> all) : entries(std::move(all)) {
    shape = entries[0]->shape;
    shape.insert(shape.begin(), entries.size());
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    const int64_t size = rowSize();
    for (int64_t i = first; i < first + count; ++i, into += size)
      entries[i]->rows(0, entries[i]->rowCount(), into);
  }
  void bytes(int64_t first, int64_t count, int8_t *into) const override {
    const int64_t size = rowSize();
    for (int64_t i = first; i < first + count; ++i, into += size)
      entries[i]->bytes(0, entries[i]->rowCount(), into);
  }
  std::optional<Encoding> encoding() const override {
    return encodingOf(entries);
  }
  void blocks(int64_t first, int64_t count, uint8_t *into) const override {
    const int64_t bytes = *bytesOfRow(*encoding(), rowSize());
    for (int64_t i = first; i < first + count; ++i, into += bytes)
      entries[i]->blocks(0, entries[i]->rowCount(), into);
  }

private:
  std::vector<ExpressionPtr> entries;
};

// One entry of a stack, which other Entry nodes share.
class Entry final : public Moves<Entry> {
public:
  Entry(std::shared_ptr<const LastRow> stack, int64_t number)
      : whole(std::move(stack)), number(number) {
    shape.assign((*whole)->shape.begin() + 1, (*whole)->shape.end());
  }
  template <typename Number>
  void move(int64_t first, int64_t count, Number *into) const {
    const int64_t size = rowSize();
    std::copy_n(whole->at<Number>(number) + first * size, count * size, into);
  }
  std::optional<Encoding> encoding() const override {
    return (*whole)->encoding();
  }
  void blocks(int64_t first, int64_t count, uint8_t *into) const override {
    const int64_t bytes = *bytesOfRow(*encoding(), rowSize());
    std::copy_n(whole->blocksAt(number) + first * bytes, count * bytes, into);
  }

private:
  std::shared_ptr<const LastRow> whole;
  int64_t number;
};

} // namespace

ExpressionPtr mille::gather(ExpressionPtr value, llvm::ArrayRef<int64_t> rows) {
  return std::make_unique<Gather>(std::move(value), rows);
}

ExpressionPtr mille::repeat(ExpressionPtr value, int64_t times, bool each) {
  return std::make_unique<Repeat>(std::move(value), times, each);
}

ExpressionPtr mille::reshape(ExpressionPtr value, llvm::ArrayRef<int64_t> to) {
  if (const Strided *view = value->strided()) {
    Strided shaped = *view;
    if (shaped.reshape(to))
      return stored(std::move(shaped));
    const llvm::ArrayRef<int64_t> from = view->shape, rest = to.drop_front();
    if (from.size() > rest.size() && from.take_back(rest.size()) == rest)
      return std::make_unique<Collapsed>(*view, from.size() - rest.size());
  }
  return std::make_unique<Reshape>(std::move(value), to);
}

ExpressionPtr mille::permute(ExpressionPtr value,
                             llvm::ArrayRef<int64_t> order) {
  if (const Strided *view = value->strided()) {
    Strided turned = *view;
    turned.permute(order);
    if (turned.alongRows() || !isBlocks(turned.tensor->type))
      return stored(std::move(turned));
  }
  return std::make_unique<Permute>(std::move(value), order);
}

ExpressionPtr mille::stack(std::vector<ExpressionPtr> entries) {
  return std::make_unique<Stack>(std::move(entries));
}

std::vector<ExpressionPtr> mille::entriesOf(ExpressionPtr stacked) {
  std::vector<ExpressionPtr> entries;
  const int64_t count = stacked->rowCount();
  if (const Strided *view = stacked->strided()) {
    for (int64_t i = 0; i < count; ++i) {
      Strided part = *view;
      part.enter(i);
      entries.push_back(stored(std::move(part)));
    }
    return entries;
  }
  auto whole = std::make_shared<const LastRow>(std::move(stacked));
  for (int64_t i = 0; i < count; ++i)
    entries.push_back(std::make_unique<Entry>(whole, i));
  return entries;
}
