// Places buffers by size, the largest first, each at the first gap among the
// buffers that live with it. Sizes are in bytes per padded row, or in bytes.
// Must not depend on anything but the buffers.
#include "compiler/plan/Arena.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mille::plan {
namespace {

constexpr int64_t line = 64;      // bytes of a cache line
constexpr int64_t wideRow = 16;   // lines: one more costs little
constexpr int64_t rowsBehind = 8; // that kernels may read after the last

int64_t bytesOfElement(ShapedType type) {
  return type.getElementTypeBitWidth() / 8;
}

// Elements from one row to the next. The stride is an odd number of cache
// lines, so that one column of many rows, such as the keys of a head or the
// rows of a tile, lies in all sets of a cache. (With 144 lines a head's keys
// lie in a quarter of the sets: attention took 8 % longer at 512 tokens, 11 %
// at 2048.)
int64_t rowStride(ShapedType type) {
  int64_t each = bytesOfElement(type);
  int64_t lines = llvm::divideCeil(type.getDimSize(1) * each, line);
  return (lines >= wideRow && lines % 2 == 0 ? lines + 1 : lines) * line / each;
}

bool isRows(ShapedType type) {
  return type.getRank() == 2 && type.isDynamicDim(0) && type.getDimSize(1) > 1;
}

// Two bodies of loops never run at the same time, and parts of the arena are
// apart; everything else is compared by its steps.
bool liveTogether(const Buffer &a, const Buffer &b) {
  bool exclusive = a.body && b.body && a.body != b.body;
  return !exclusive && a.fixed == b.fixed && a.begin <= b.end &&
         b.begin <= a.end;
}

} // namespace

MemRefType exactType(RankedTensorType tensor) {
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

MemRefType arenaType(RankedTensorType tensor) {
  if (!isRows(tensor) || rowStride(tensor) == tensor.getDimSize(1))
    return exactType(tensor);
  auto layout =
      StridedLayoutAttr::get(tensor.getContext(), 0, {rowStride(tensor), 1});
  return MemRefType::get(tensor.getShape(), tensor.getElementType(), layout);
}

int64_t bytesPerRow(MemRefType type, kernel::RowSpace rows) {
  // A buffer of fixed tokens needs no factor: padded rows count them.
  int64_t elements = rows.size.empty() ? 1 : rows.times,
          each = bytesOfElement(type);
  if (isRows(type))
    return elements * rowStride(type) * each;
  for (int64_t extent : type.getShape())
    elements *= ShapedType::isDynamic(extent) ? 1 : extent;
  return llvm::alignTo(elements * each, line);
}

int64_t fixedBytes(MemRefType type, int64_t rows) {
  const int64_t elements =
      type.hasStaticShape()
          ? type.getNumElements()
          : (rows + rowsBehind) * (isRows(type) ? rowStride(type) : 1);
  return llvm::alignTo(elements * bytesOfElement(type), line);
}

ArenaBytes placeBuffers(std::deque<Buffer> &buffers) {
  SmallVector<std::pair<int64_t, Buffer *>> order; // order in the program
  for (Buffer &buffer : buffers)
    order.push_back({int64_t(order.size()), &buffer});
  llvm::sort(order, [](const auto &a, const auto &b) {
    return std::make_pair(-a.second->bytes, a.first) <
           std::make_pair(-b.second->bytes, b.first);
  });
  ArenaBytes total;
  SmallVector<Buffer *> placed; // by offset
  for (auto [place, buffer] : order) {
    int64_t offset = 0;
    for (Buffer *other : placed) {
      if (!liveTogether(*buffer, *other))
        continue;
      if (offset + buffer->bytes <= other->offset)
        break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    buffer->offset = offset;
    int64_t &end = buffer->fixed ? total.fixed : total.perRow;
    end = std::max(end, offset + buffer->bytes);
    auto after = [](int64_t at, const Buffer *b) { return at < b->offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset, after),
                  buffer);
  }
  return total;
}

} // namespace mille::plan
