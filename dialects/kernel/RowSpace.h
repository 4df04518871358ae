// The number of rows of a buffer in a kernel program, in terms of a run's
// sizes. Must not change the program.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

// batch * size * times.
struct RowSpace {
  llvm::StringRef size; // the size's name, owned by the context; "": none
  int64_t times = 1;

  // The rows of a sequence as an extent of a shape. Slots of tokens have none.
  ShapeExtent perSequence() const {
    return size.empty() ? ShapeExtent(times) : size;
  }
  // Whether the buffer has a row for each token of the run.
  bool isPerToken() const { return size == sizes::tokens && times == 1; }
  bool operator==(const RowSpace &other) const {
    return size == other.size && times == other.times;
  }
};

// The row space that an index value computes: an argument of the entry, a
// number, or a product of these. Nothing if it is something else.
std::optional<RowSpace> rowSpaceOfSize(mlir::Value size);

// The rows of a sequence that an index value computes, which has no factor
// `batch`. Nothing if it is something else.
std::optional<RowSpace> perSequenceOf(mlir::Value size);

// The row space of a tensor of a kernel program. Nothing if its shape is fixed,
// or if the size of its destination is something else.
std::optional<RowSpace> rowSpaceOf(mlir::Value tensor);

// The row space of an input or output by its shape, flattened to `type`. An
// image whose sides are sizes has one row per sequence.
RowSpace rowSpaceOfShape(transformer::ShapeAttr shape, mlir::ShapedType type);

} // namespace mille::kernel
