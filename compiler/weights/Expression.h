// A parameter's value as a tree of nodes that is read row by row (along axis
// 0). Must hold a few rows at a time only, however large the tensor is.
#pragma once
#include "compiler/weights/Strided.h"
#include "dialects/transformer/Panels.h"
#include "dialects/transformer/Transformer.h"

#include <memory>

namespace mille {

class Expression {
public:
  llvm::SmallVector<int64_t> shape;
  virtual ~Expression() = default;

  int64_t rowCount() const { return shape.empty() ? 1 : shape[0]; }
  int64_t rowSize() const; // elements of a row
  int64_t elements() const { return rowCount() * rowSize(); }

  // Computes rows first .. first + count - 1, row-major, in double.
  virtual void rows(int64_t first, int64_t count, double *into) const = 0;
  // The same rounded once to f32.
  virtual void rows(int64_t first, int64_t count, float *into) const;
  // The same rounded to the nearest whole numbers from -128 to 127.
  virtual void bytes(int64_t first, int64_t count, int8_t *into) const;
  // For a matrix, in f32: into[k * stride + j] = element [first + j, k].
  virtual void columns(int64_t first, int64_t count, float *into,
                       int64_t stride) const;
  // The view of a stored tensor, if the value is only that; else null.
  virtual const Strided *strided() const { return nullptr; }
  // The encoding, if rows are whole stored blocks, unchanged. Then `blocks`
  // copies the file's bytes of some rows.
  virtual std::optional<Encoding> encoding() const { return std::nullopt; }
  virtual void blocks(int64_t first, int64_t count, uint8_t *into) const {}
};

using ExpressionPtr = std::unique_ptr<Expression>;

ExpressionPtr stored(Strided view);
ExpressionPtr drawn(transformer::DrawnAttr recipe);
ExpressionPtr number(double value);
ExpressionPtr slice(ExpressionPtr value, int64_t axis, int64_t offset,
                    int64_t size, int64_t stride);
ExpressionPtr transpose(ExpressionPtr value);
ExpressionPtr concat(std::vector<ExpressionPtr> values);
ExpressionPtr times(ExpressionPtr value, ExpressionPtr factor);
ExpressionPtr plus(ExpressionPtr value, ExpressionPtr term);
// Packs a matrix, or a stack [E, out, in] entry by entry. See transformer.pack.
ExpressionPtr pack(ExpressionPtr value, Panels panels);

// Rearrange.cpp
ExpressionPtr gather(ExpressionPtr value, llvm::ArrayRef<int64_t> rows);
ExpressionPtr repeat(ExpressionPtr value, int64_t times, bool each);
ExpressionPtr reshape(ExpressionPtr value, llvm::ArrayRef<int64_t> to);
ExpressionPtr permute(ExpressionPtr value, llvm::ArrayRef<int64_t> order);
ExpressionPtr stack(std::vector<ExpressionPtr> entries);
// The entries of a stack, each without the first dimension.
std::vector<ExpressionPtr> entriesOf(ExpressionPtr stacked);

// Quantize.cpp. Rows are along the last dimension.
ExpressionPtr rowScales(ExpressionPtr value, transformer::ByteKind kind);
ExpressionPtr quantized(ExpressionPtr value, transformer::ByteKind kind);
ExpressionPtr rowSums(ExpressionPtr value);
// PackBlocks.cpp. Rows are along the last dimension. See transformer.in_blocks
// and transformer.pack_blocks. `importance`: what errors of each column count;
// empty: all the same.
ExpressionPtr inBlocks(ExpressionPtr value, Encoding encoding,
                       std::vector<double> importance);
ExpressionPtr packBlocks(ExpressionPtr value, BlockPanels panels,
                         std::vector<double> importance);

// The root mean square of each column of a matrix, relative to the whole one's.
ExpressionPtr columnRms(ExpressionPtr value);

// Compute.cpp
ExpressionPtr numbers(transformer::NumbersAttr list);
// An f32 table is rounded as one in a file would be; an f64 table is not.
ExpressionPtr sinusoid(transformer::SinusoidAttr table);
ExpressionPtr product(ExpressionPtr left, ExpressionPtr right);
ExpressionPtr apply(ExpressionPtr value, transformer::ValueFunction function);
ExpressionPtr normed(ExpressionPtr value, ExpressionPtr weight,
                     ExpressionPtr bias, double eps);

} // namespace mille
