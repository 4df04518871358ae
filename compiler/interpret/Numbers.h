// The arithmetic of both dialects, in double on rows of numbers.
// Must not know ops, files or parameters; must share nothing with generators.
#pragma once
#include "compiler/interpret/Interpret.h"
#include "compiler/interpret/Loops.h"
#include "dialects/kernel/Kernel.h"

namespace mille::interpreter {

// A tensor of a run: activations [..., channels], row-major.
using Tensor = mille::Value;

int64_t elementsOf(llvm::ArrayRef<int64_t> shape);
inline int64_t columnsOf(const Tensor &tensor) { return tensor.shape.back(); }
// Of a stream [batch, tokens, channels] or [rows, channels].
inline int64_t rowsOf(const Tensor &tensor) {
  int64_t columns = columnsOf(tensor);
  return columns ? int64_t(tensor.numbers.size()) / columns : 0;
}
inline Tensor zeros(std::vector<int64_t> shape) {
  Tensor tensor;
  tensor.numbers.assign(elementsOf(shape), 0.0);
  tensor.shape = std::move(shape);
  return tensor;
}

// One row of n numbers, in place, without affine part.
void normRow(kernel::RowNormKind kind, double eps, double *row, int64_t n);

// Rotates (a, b) by an angle whose cosine and sine are given.
inline void turn(double &a, double &b, double cosine, double sine) {
  double first = a * cosine - b * sine;
  b = b * cosine + a * sine;
  a = first;
}

// x rounded to the nearest bfloat16, ties to even.
double roundedToBfloat16(double x);
// The same to f16, of which the largest stands for all numbers beyond it.
double roundedToHalf(double x);

// The factor of a length_scale for a query: token i of its sequence, which sees
// `seen` keys and has the position id `position`.
double lengthFactor(transformer::LengthScaleAttr scale, int64_t seen, int64_t i,
                    double position);

// The tokens of a sequence up to the last one that the mask (null: all ones)
// shows.
int64_t tokensShown(const Tensor *mask, int64_t sequence, int64_t tokens);

// Cosines and sines per row: [rows, 2 * pairs], pairs cosines first.
struct Rotation {
  int64_t pairs = 0;
  std::vector<double> numbers;
};
// Rotates the dimensions from `start` on of each head of rows [count, heads *
// headDim].
void turnHeads(const Rotation &rotation, double *rows, int64_t count,
               int64_t heads, int64_t headDim, int64_t start, bool half);

} // namespace mille::interpreter
