// The arithmetic of both dialects, in double on rows of numbers.
// Must not know ops, files or parameters; must share nothing with generators.
#pragma once
#include "compiler/interpret/Interpret.h"
#include "dialects/kernel/Kernel.h"

#include <cmath>

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

// out[m, n] = sum over k of input[m, k] * weight[n, k], k in order.
// input [rows, inner], weight [columns, inner], out [rows, columns].
void product(const double *input, const double *weight, double *out,
             int64_t rows, int64_t inner, int64_t columns);

// One row of n numbers, in place, without affine part.
void normRow(kernel::RowNormKind kind, double eps, double *row, int64_t n);

inline double softcap(double cap, double x) { return cap * std::tanh(x / cap); }

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
