// Computes coordinates of tokens. Must not know of ops or configurations.
#include "compiler/import/model/Coordinates.h"

#include <cmath>

using namespace mille::import;

std::vector<double> mille::import::axialRotation(Grid grid, int64_t prefix,
                                                 int64_t headDim,
                                                 double theta) {
  constexpr double turn = 6.283185307179586476925;
  const int64_t quarter = headDim / 4, half = 2 * quarter;
  std::vector<double> table;
  auto add = [&](double row, double column) {
    std::vector<double> angles;
    for (double place : {row, column})
      for (int64_t i = 0; i < quarter; ++i)
        angles.push_back(turn * place *
                         std::pow(theta, -4.0 * double(i) / double(headDim)));
    for (int64_t i = 0; i < half; ++i)
      table.push_back(std::cos(angles[i]));
    for (int64_t i = 0; i < half; ++i)
      table.push_back(std::sin(angles[i]));
  };
  auto middle = [](int64_t at, int64_t extent) {
    return 2 * (double(at) + 0.5) / double(extent) - 1;
  };
  for (int64_t i = 0; i < prefix; ++i)
    add(0, 0);
  for (int64_t y = 0; y < grid.height; ++y)
    for (int64_t x = 0; x < grid.width; ++x)
      add(middle(y, grid.height), middle(x, grid.width));
  return table;
}

std::vector<double> mille::import::logSpacedDistances(int64_t size,
                                                      int64_t scaledTo) {
  // A window of one place has only the distance 0.
  const double unit = scaledTo > 1 ? 8 / double(scaledTo - 1) : 8;
  auto spaced = [&](int64_t distance) {
    const double far = std::log2(1 + std::abs(double(distance)) * unit) / 3;
    return distance < 0 ? -far : far;
  };
  std::vector<double> table;
  for (int64_t down = 1 - size; down < size; ++down)
    for (int64_t right = 1 - size; right < size; ++right) {
      table.push_back(spaced(down));
      table.push_back(spaced(right));
    }
  return table;
}
