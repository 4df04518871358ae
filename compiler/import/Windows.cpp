// Computes the indices of windows. Must not know of ops or configurations.
#include "compiler/import/Windows.h"

using namespace mille::import;

Windows::Windows(Grid grid, int64_t size, int64_t shift)
    : grid(grid), size(size), shift(shift) {
  whole.height = (grid.height + size - 1) / size * size;
  whole.width = (grid.width + size - 1) / size * size;
}

// Calls visit(row, column) of every place, window by window.
template <typename Visit>
static void eachPlace(Grid whole, int64_t size, Visit visit) {
  for (int64_t top = 0; top < whole.height; top += size)
    for (int64_t left = 0; left < whole.width; left += size)
      for (int64_t y = 0; y < size; ++y)
        for (int64_t x = 0; x < size; ++x)
          visit(top + y, left + x);
}

std::vector<int64_t> Windows::partition() const {
  std::vector<int64_t> index;
  eachPlace(whole, size, [&](int64_t row, int64_t column) {
    const int64_t y = (row + shift) % whole.height;
    const int64_t x = (column + shift) % whole.width;
    const bool padding = y >= grid.height || x >= grid.width;
    index.push_back(padding ? -1 : y * grid.width + x);
  });
  return index;
}

std::vector<int64_t> Windows::reverse() const {
  std::vector<int64_t> index(grid.tokens()), from = partition();
  for (int64_t place = 0; place < int64_t(from.size()); ++place)
    if (from[place] >= 0)
      index[from[place]] = place;
  return index;
}

std::vector<int64_t> Windows::segments() const {
  // The last `shift` rows of the last window were moved there from the top.
  auto band = [&](int64_t at, int64_t extent) {
    return shift == 0 || at < extent - size ? 0 : at < extent - shift ? 1 : 2;
  };
  std::vector<int64_t> numbers;
  eachPlace(whole, size, [&](int64_t row, int64_t column) {
    numbers.push_back(3 * band(row, whole.height) + band(column, whole.width));
  });
  return numbers;
}

Grid mille::import::merged(Grid grid) {
  return {(grid.height + 1) / 2, (grid.width + 1) / 2};
}

std::vector<int64_t> mille::import::mergeIndex(Grid grid) {
  std::vector<int64_t> index;
  const Grid out = merged(grid);
  for (int64_t top = 0; top < 2 * out.height; top += 2)
    for (int64_t left = 0; left < 2 * out.width; left += 2)
      for (int64_t x : {left, left + 1})
        for (int64_t y : {top, top + 1})
          index.push_back(y < grid.height && x < grid.width ? y * grid.width + x
                                                            : -1);
  return index;
}

std::vector<int64_t> mille::import::relativePairs(Grid grid) {
  std::vector<int64_t> index;
  const int64_t n = grid.tokens(), width = grid.width;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const int64_t down = i / width - j / width + grid.height - 1;
      const int64_t right = i % width - j % width + width - 1;
      index.push_back(down * (2 * width - 1) + right);
    }
  return index;
}

std::vector<int64_t> mille::import::relativePairsBehindClass(Grid grid) {
  const std::vector<int64_t> inner = relativePairs(grid);
  const int64_t n = grid.tokens();
  const int64_t from = (2 * grid.height - 1) * (2 * grid.width - 1);
  std::vector<int64_t> index{from + 2};
  index.insert(index.end(), n, from);
  for (int64_t i = 0; i < n; ++i) {
    index.push_back(from + 1);
    index.insert(index.end(), inner.begin() + i * n,
                 inner.begin() + (i + 1) * n);
  }
  return index;
}
