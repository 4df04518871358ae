// Computes index lists for an image's windows: which token goes where, for
// gather_tokens (-1: a padding token), and which bias a pair of tokens has.
#pragma once
#include <cstdint>
#include <vector>

namespace mille::import {

// A grid of tokens, row by row.
struct Grid {
  int64_t height = 0, width = 0;
  int64_t tokens() const { return height * width; }
};

// Square windows over a grid, padded at the bottom and on the right to whole
// windows, then moved cyclically by `shift` up and left.
class Windows {
public:
  Windows(Grid grid, int64_t size, int64_t shift);

  int64_t count() const { return whole.tokens() / (size * size); }
  // [windows * size * size]: the token at each place of each window.
  std::vector<int64_t> partition() const;
  // [tokens]: the place of each token in the windows.
  std::vector<int64_t> reverse() const;
  // [windows * size * size]: a number per place. Places of a window that were
  // not neighbours before the shift have different numbers. All 0 without a
  // shift.
  std::vector<int64_t> segments() const;

private:
  Grid grid, whole;
  int64_t size, shift;
};

// The grid after merging squares of 2 x 2 tokens; an odd side is padded.
Grid merged(Grid grid);
// [tokens of merged(grid) * 4]: column by column, upper before lower.
std::vector<int64_t> mergeIndex(Grid grid);

// [n * n], n = tokens: for query i and key j the row of a table [(2 height - 1)
// * (2 width - 1)] of distances, ordered by the distance in rows, then columns.
std::vector<int64_t> relativePairs(Grid grid);
// The same with one token (CLS) before the grid, n = 1 + tokens. The table's
// last three rows are the distances from it, to it, and to itself.
std::vector<int64_t> relativePairsBehindClass(Grid grid);

} // namespace mille::import
