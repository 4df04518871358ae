// A stored tensor seen through slices and transpositions: an offset and strides
// over the mapped file. Nothing is copied until elements are asked for.
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
  // False where elements do not follow each other.
  bool reshape(llvm::ArrayRef<int64_t> to);
  // Whether rows are runs of the file, so that blocks are decoded once.
  bool alongRows() const { return strides.empty() || strides.back() == 1; }
  // Of blocks: whether rows are whole blocks, one after the other in the file.
  bool inWholeBlocks() const;
  // The bytes of such rows, row-major.
  void blocks(int64_t first, int64_t count, uint8_t *into) const;
  void enter(int64_t index); // entry `index` along axis 0, without that axis

  // Rows first .. first + count - 1 along axis 0, row-major.
  void rows(int64_t first, int64_t count, double *into) const;
  void rows(int64_t first, int64_t count, float *into) const;
  // Of a matrix: into[k * stride + j] = row first + j, column k.
  void columns(int64_t first, int64_t count, float *into, int64_t stride) const;
};

} // namespace mille
