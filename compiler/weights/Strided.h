// A view of a stored tensor through slices and transpositions: an offset and
// strides over the mapped file. Must not copy anything before it is read.
#pragma once
#include "compiler/weights/TensorFile.h"
#include "llvm/ADT/SmallVector.h"

namespace mille {

struct Strided {
  const StoredTensor *tensor;
  int64_t offset = 0; // all in elements
  llvm::SmallVector<int64_t> shape, strides;

  explicit Strided(const StoredTensor *tensor);
  void slice(int64_t axis, int64_t from, int64_t size, int64_t stride);
  void transpose();
  void permute(llvm::ArrayRef<int64_t> order);
  // False if the strides do not allow the new shape.
  bool reshape(llvm::ArrayRef<int64_t> to);
  // Whether rows are contiguous in the file, so that each block is decoded
  // once.
  bool alongRows() const { return strides.empty() || strides.back() == 1; }
  // For blocks: whether rows are whole blocks, contiguous in the file.
  bool inWholeBlocks() const;
  // The bytes of such rows, row-major.
  void blocks(int64_t first, int64_t count, uint8_t *into) const;
  void enter(int64_t index); // takes entry `index` of axis 0 and drops the axis

  // Reads rows first .. first + count - 1 along axis 0, row-major.
  void rows(int64_t first, int64_t count, double *into) const;
  void rows(int64_t first, int64_t count, float *into) const;
  // For a matrix: into[k * stride + j] = element [first + j, k].
  void columns(int64_t first, int64_t count, float *into, int64_t stride) const;
};

} // namespace mille
