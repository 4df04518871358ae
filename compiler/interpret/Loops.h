// What the hot loops of a reference run share with the rest. Must not include
// MLIR: files with options of their own take no precompiled headers.
#pragma once
#include <cmath>
#include <cstdint>

namespace mille::interpreter {

// out[m, n] = sum over k of input[m, k] * weight[n, k], k in order.
// input [rows, inner], weight [columns, inner], out [rows, columns].
void product(const double *input, const double *weight, double *out,
             int64_t rows, int64_t inner, int64_t columns);

// Each head's columns of a row with a weight of its own: input [rows, heads *
// inner], weight [heads, columns, inner], out [rows, heads * columns].
void productByHead(const double *input, const double *weight, double *out,
                   int64_t rows, int64_t heads, int64_t inner, int64_t columns);

inline double softcap(double cap, double x) { return cap * std::tanh(x / cap); }

} // namespace mille::interpreter
