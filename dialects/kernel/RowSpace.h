// How many rows a buffer of a kernel program has, in words of a run's sizes.
// Reads how sizes are computed; changes nothing.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

// batch * size * times.
struct RowSpace {
  llvm::StringRef size; // its name, which the context owns; "": none
  int64_t times = 1;

  // Rows of a sequence as a shape says them; slots of tokens have no such word.
  ShapeExtent perSequence() const {
    return size.empty() ? ShapeExtent(times) : size;
  }
  // Whether there is a row for each token of the run.
  bool isPerToken() const { return size == sizes::tokens && times == 1; }
  bool operator==(const RowSpace &other) const {
    return size == other.size && times == other.times;
  }
};

// What an index stands for: an argument of `forward`, a number, or a product of
// these. Nothing where it is something else.
std::optional<RowSpace> rowSpaceOfSize(mlir::Value size);

// Rows of a tensor of a kernel program. Nothing where its shape is fixed, or
// where its destination's size is something else.
std::optional<RowSpace> rowSpaceOf(mlir::Value tensor);

// Of an input or output by its shape, flattened to `type`.
RowSpace rowSpaceOfShape(transformer::ShapeAttr shape, mlir::ShapedType type);

} // namespace mille::kernel
