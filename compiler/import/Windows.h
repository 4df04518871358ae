// Tokens of an image in windows: which token goes where, as index lists of
// gather_tokens (-1: a padding token), and which pair of them a bias belongs
// to.
#pragma once
#include <cstdint>
#include <vector>

namespace mille::import {

// Tokens in rows, the first row first.
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
  // [windows * size * size]: the token that each place of each window takes.
  std::vector<int64_t> partition() const;
  // [tokens]: the place that each token comes back from.
  std::vector<int64_t> reverse() const;
  // [windows * size * size]: places that the shift brought together from far
  // apart have different numbers. All 0 without a shift.
  std::vector<int64_t> segments() const;

private:
  Grid grid, whole;
  int64_t size, shift;
};

// The grid after merging squares of 2 x 2 tokens; an odd side is padded.
Grid merged(Grid grid);
// [tokens of merged(grid) * 4]: column by column, upper before lower.
std::vector<int64_t> mergeIndex(Grid grid);

// [n * n], n = tokens: the row of a table [(2 height - 1) * (2 width - 1)] that
// says how far query i is from key j: rows first, then columns.
std::vector<int64_t> relativePairs(Grid grid);
// The same with one token before the grid (CLS), whose distances are the
// table's last three rows: from it, to it, and to itself. n = 1 + tokens.
std::vector<int64_t> relativePairsBehindClass(Grid grid);

} // namespace mille::import
