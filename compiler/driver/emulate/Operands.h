// The buffers of a kernel op for a run in the emulator: numbers, and bytes as
// the kernel reads them. Must not compute what the kernel does.
#pragma once
#include "compiler/emulate/Run.h"
#include "compiler/kernels/Spec.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace mille::emulated {

// How large a run is.
struct Sizes {
  int64_t rows = 1, sequences = 1, keys = 1, first = 0;
  std::vector<int64_t> past; // of each sequence, where a model says it

  int64_t queries() const { return rows / sequences; }
  // Where keys are a state's: the rows that a sequence's state holds before the
  // run. Sequences stand at different places, the first one at `first`.
  int64_t held(int64_t sequence) const {
    if (!past.empty())
      return past[sequence];
    constexpr int64_t apart = 61;
    return std::max<int64_t>(first - apart * sequence, 0);
  }
};

struct Operand {
  std::string name;
  BufferSpec spec;
  int64_t rows = 1;
  std::vector<double> numbers; // [rows, spec.columns]
  bool weights = false;        // no kernel writes it
  // Of an out whose terms a kernel rounds: the sum of each number's terms'
  // magnitudes. Else empty.
  std::vector<double> weighed;

  double at(int64_t row, int64_t column) const {
    return numbers[row * spec.columns + column];
  }
  // What a bound of the error of number [row, column] is a part of.
  double sizeAt(int64_t row, int64_t column) const {
    return std::fabs(at(row, column)) +
           (weighed.empty() ? 1 : weighed[row * spec.columns + column]);
  }
  // With NaNs between rows; `written`: has content before the launch.
  emulate::Buffer bytes(bool written) const;
  // The numbers that the bytes hold.
  void read(const emulate::Buffer &buffer);
};

// The number of the type that is nearest; of two as near the even one.
double roundedTo(double number, Element element);

// What the numbers of an operand are.
enum class Drawn {
  numbers,
  weights,
  reals, // with all the bits of an f32, as the next
  realWeights,
  flags,
  indices,
  angles,
  segments,
  bytes,          // without sign
  signedBytes,    // from -127 on
  byteParameters, // of rows of bytes: step, zero, outlier, its column
};

// Numbers that its type holds exactly. Indices, and columns of outliers, are
// below `entries`.
void draw(Operand &operand, Drawn what, int64_t entries, std::mt19937 &random);

} // namespace mille::emulated
