// Gathers elements of a mapped tensor by strides. Must read contiguous elements
// as one piece.
#include "compiler/weights/Strided.h"
#include "compiler/weights/Elements.h"

#include <algorithm>

using namespace mille;

Strided::Strided(const StoredTensor *tensor)
    : tensor(tensor), shape(tensor->shape.begin(), tensor->shape.end()),
      strides(shape.size()) {
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis])
    strides[axis] = stride;
}

void Strided::slice(int64_t axis, int64_t from, int64_t size, int64_t stride) {
  offset += from * strides[axis];
  shape[axis] = size;
  strides[axis] *= stride;
}

void Strided::transpose() {
  std::swap(shape[0], shape[1]);
  std::swap(strides[0], strides[1]);
}

void Strided::permute(llvm::ArrayRef<int64_t> order) {
  const Strided from = *this;
  for (size_t axis = 0; axis < order.size(); ++axis) {
    shape[axis] = from.shape[order[axis]];
    strides[axis] = from.strides[order[axis]];
  }
}

void Strided::enter(int64_t index) {
  offset += index * strides[0];
  shape.erase(shape.begin());
  strides.erase(strides.begin());
}

bool Strided::reshape(llvm::ArrayRef<int64_t> to) {
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis])
    if (strides[axis] != stride)
      return false;
  shape.assign(to.begin(), to.end());
  strides.resize(shape.size());
  stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis])
    strides[axis] = stride;
  return true;
}

namespace {

// Calls `use` with a function that loads an element by its number. For blocks
// each call decodes a whole block, which is slow: use it only where elements of
// a block do not follow each other.
template <typename Use> void withElements(const StoredTensor &tensor, Use use) {
  if (isBlocks(tensor.type))
    return use([&](int64_t at) {
      float number;
      tensor.read(at, llvm::MutableArrayRef<float>(number));
      return number;
    });
  withLoader(tensor.type, [&](auto load) {
    const int64_t width = blockBytes(tensor.type);
    const char *base = tensor.bytes.data();
    use([=](int64_t at) { return load(base + at * width); });
  });
}

// Gathers the elements along axes `axis` and up, starting at `at`. Returns the
// end of the output.
template <typename Element, typename Number>
Number *gather(const Strided &view, Element element, size_t axis, int64_t at,
               Number *into) {
  if (axis == view.shape.size()) {
    *into = Number(element(at));
    return into + 1;
  }
  const int64_t extent = view.shape[axis], stride = view.strides[axis];
  if (axis + 1 < view.shape.size()) {
    for (int64_t i = 0; i < extent; ++i)
      into = gather(view, element, axis + 1, at + i * stride, into);
    return into;
  }
  if (stride == 1) {
    view.tensor->read(at, llvm::MutableArrayRef<Number>(into, extent));
    return into + extent;
  }
  for (int64_t i = 0; i < extent; ++i)
    into[i] = Number(element(at + i * stride));
  return into + extent;
}

template <typename Number>
void readRows(const Strided &view, int64_t first, int64_t count, Number *into) {
  if (view.shape.empty())
    return view.tensor->read(view.offset,
                             llvm::MutableArrayRef<Number>(into, count));
  Strided part = view;
  part.slice(0, first, count, 1);
  withElements(*view.tensor, [&](auto element) {
    gather(part, element, 0, part.offset, into);
  });
}

} // namespace

void Strided::rows(int64_t first, int64_t count, double *into) const {
  readRows(*this, first, count, into);
}

void Strided::rows(int64_t first, int64_t count, float *into) const {
  readRows(*this, first, count, into);
}

void Strided::columns(int64_t first, int64_t count, float *into,
                      int64_t stride) const {
  const int64_t depth = shape[1], across = strides[0], along = strides[1];
  const int64_t start = offset + first * across;
  if (across == 1) { // stored [in, out]: an input's outputs are contiguous
    for (int64_t k = 0; k < depth; ++k)
      tensor->read(start + k * along,
                   llvm::MutableArrayRef<float>(into + k * stride, count));
    return;
  }
  if (isBlocks(tensor->type) && along == 1) {
    std::vector<float> row(depth);
    for (int64_t j = 0; j < count; ++j) {
      tensor->read(start + j * across, llvm::MutableArrayRef<float>(row));
      for (int64_t k = 0; k < depth; ++k)
        into[k * stride + j] = row[k];
    }
    return;
  }
  withElements(*tensor, [&](auto element) {
    // Reads one cache line of each row at a time, so that the lines of input
    // and output stay in L1.
    constexpr int64_t block = 16;
    for (int64_t k0 = 0; k0 < depth; k0 += block) {
      const int64_t k1 = std::min(depth, k0 + block);
      for (int64_t j = 0; j < count; ++j) {
        const int64_t row = start + j * across;
        for (int64_t k = k0; k < k1; ++k)
          into[k * stride + j] = float(element(row + k * along));
      }
    }
  });
}

bool Strided::inWholeBlocks() const {
  const int64_t length = blockLength(tensor->type);
  if (length == 1 || shape.empty() || !alongRows() || shape.back() % length ||
      offset % length)
    return false;
  return llvm::all_of(llvm::ArrayRef(strides).drop_back(),
                      [&](int64_t stride) { return stride % length == 0; });
}

static uint8_t *copyBlocks(const Strided &view, size_t axis, int64_t at,
                           uint8_t *into) {
  if (axis + 1 == view.shape.size()) {
    const int64_t length = blockLength(view.tensor->type),
                  bytes = blockBytes(view.tensor->type);
    const int64_t size = view.shape[axis] / length * bytes;
    std::memcpy(into, view.tensor->bytes.data() + at / length * bytes, size);
    return into + size;
  }
  for (int64_t i = 0; i < view.shape[axis]; ++i)
    into = copyBlocks(view, axis + 1, at + i * view.strides[axis], into);
  return into;
}

void Strided::blocks(int64_t first, int64_t count, uint8_t *into) const {
  Strided part = *this;
  if (shape.size() > 1)
    part.slice(0, first, count, 1);
  copyBlocks(part, 0, part.offset, into);
}
