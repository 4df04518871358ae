// The layout of a weight's blocks in panels of 16 rows, as matmuls read them.
// Must not use MLIR: kernel generators include this.
#pragma once
#include <cstdint>

namespace mille {

// The input is in blocks of so many numbers, which share a step. Each block has
// three parameters: its step, the sum of its values, and the sum of its first
// half. A row has the steps of all its blocks, then all sums, then all half
// sums.
constexpr int64_t inputBlock = 32, inputParameters = 3;

// A sum stands as countsFrom - levelOffset * sum. An f32 less than 2^22 away
// from countsFrom has the bits of countsFrom plus the distance, as integers: a
// matmul loads such bits, adds products of integers to them, and has the f32
// without a conversion. Levels stand levelOffset above what they mean, as
// unsigned bytes, in most encodings.
constexpr float countsFrom = 0x1.8p23f;
constexpr int levelOffset = 128;

// A number is scale * (level - offset) - least; UnevenLevels.h has encodings in
// which a level stands for another value. A block is 32 levels of a row.
// `blocks` of them share the step of scales and the step of least values. A
// panel holds, for each accumulator in turn and for 16 rows side by side:
//   where blocks share steps, these in f16, then those of least values;
//   block after block its levels, lines of 64 bytes, 4 neighbours of K for each
//     of the rows (transformer.pack_blocks says which bits where); then its
//     scales and its least values, in f16 or, where blocks share steps, as a
//     number of steps in a byte each.
// So kernels read a panel byte after byte, which the memory's prefetching
// follows: with all scales in one place before the levels a matmul of two
// accumulators had a third of the speed on Zen 4.
struct BlockForm {
  const char *name = ""; // the encoding's name
  int bits = 0, offset = 0;
  bool hasLeast = false;
  int parts = 1;  // equal parts of a block, with a scale each
  int blocks = 1; // the number of blocks that share steps

  static constexpr int64_t rows = 16, line = rows * 4, block = 32;

  explicit operator bool() const { return bits != 0; }
  bool sharesSteps() const { return blocks > 1; }
  int64_t numbers() const { return block * blocks; } // of what shares steps
  int scales() const { return parts + hasLeast; }    // of a block
  // Levels below 8 bits are multiplied by this, as unsigned bytes.
  int factor() const { return 1 << (8 - bits); }

  // Places of 16 rows of accumulator `a` of A, in bytes of what shares steps.
  int64_t stepAt(int64_t A, int64_t a) const {
    return (sharesSteps() ? 0 : bits * A * line) + a * rows * 2;
  }
  int64_t leastStepAt(int64_t A, int64_t a) const { return stepAt(A, A + a); }
  int64_t levelAt(int64_t A, int64_t b, int64_t group, int64_t a) const {
    return (sharesSteps() ? stepBytes(A) : 0) + b * blockBytes(A) +
           (group * A + a) * line;
  }
  int64_t scaleAt(int64_t A, int64_t b, int64_t part, int64_t a) const {
    return levelAt(A, b, bits, 0) + (part * A + a) * rows;
  }
  int64_t leastAt(int64_t A, int64_t b, int64_t a) const {
    return scaleAt(A, b, parts, a);
  }
  int64_t blockBytes(int64_t A) const {
    return bits * A * line +
           (sharesSteps() ? scales() * A * rows : stepBytes(A));
  }
  // Of all accumulators.
  int64_t bytes(int64_t A) const { return levelAt(A, blocks, 0, 0); }

private:
  int64_t stepBytes(int64_t A) const { return (1 + hasLeast) * A * rows * 2; }
};

} // namespace mille
