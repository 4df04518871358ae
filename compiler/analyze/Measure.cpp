// Measures moments: exactly, from the formula, for drawn weights; for others by
// sums over their numbers. Must hold one parameter in memory at a time.
#include "compiler/analyze/Measure.h"

#include <cmath>

using namespace mille;
using namespace mille::analyze;
using namespace mille::transformer;

Parameters::Parameters(mlir::Operation *model, std::string folder,
                       bool operatorNorms)
    : values(model, std::move(folder)), operatorNorms(operatorNorms) {
  model->walk([&](ParameterOp parameter) {
    byName[parameter.getSymName()] = parameter;
    stored |= llvm::isa<StoredAttr>(parameter.getValue());
  });
}

// E[x^2] of a normal of deviation 1 cut at +- c: 1 - 2 c phi(c) / (2 Phi(c) -
// 1).
static double secondOfCut(double c) {
  const double density = std::exp(-c * c / 2) / 2.50662827463100050242;
  return 1 - 2 * c * density / std::erf(c * 0.70710678118654752440);
}

static std::optional<Numbers> ofRecipe(DrawnAttr recipe, double count) {
  const double mean = recipe.getMean(), std = recipe.getStd();
  Numbers numbers;
  numbers.count = count;
  numbers.second = mean * mean;
  numbers.largest = std::fabs(mean);
  switch (recipe.getDistribution()) {
  case Distribution::fixed:
    break;
  case Distribution::normal:
    numbers.second += std * std;
    numbers.largest += std * std::sqrt(2 * std::log(std::max(count, 2.0)));
    break;
  case Distribution::uniform:
    numbers.second += std * std;
    numbers.largest += std * std::sqrt(3.0);
    break;
  case Distribution::truncated_normal:
    numbers.second += std * std * secondOfCut(recipe.getCut());
    numbers.largest += std * recipe.getCut();
    break;
  }
  numbers.length = std::sqrt(numbers.second * count);
  return numbers;
}

Numbers Parameters::of(llvm::StringRef name) {
  auto [found, fresh] = known.try_emplace(name);
  if (fresh)
    if (auto *op = byName.lookup(name))
      found->second = measure(llvm::cast<ParameterOp>(op));
  return found->second;
}

Numbers Parameters::measure(ParameterOp parameter) {
  auto type = llvm::cast<mlir::RankedTensorType>(parameter.getType());
  const double count = double(type.getNumElements());
  if (auto recipe = llvm::dyn_cast<DrawnAttr>(parameter.getValue()))
    if (!operatorNorms || type.getRank() < 2)
      return *ofRecipe(recipe, count);
  std::vector<float> all(type.getNumElements());
  if (mlir::failed(
          values.evaluateF32(parameter.getValue(), parameter.getLoc(), all))) {
    anyFailed = true;
    return {};
  }
  Numbers numbers;
  numbers.count = count;
  for (float x : all) {
    numbers.second += double(x) * x;
    numbers.largest = std::max(numbers.largest, std::fabs(double(x)));
  }
  numbers.length = std::sqrt(numbers.second);
  numbers.second /= count;
  if (operatorNorms && type.getRank() >= 2) {
    const int64_t rows = type.getDimSize(type.getRank() - 2),
                  columns = type.getDimSize(type.getRank() - 1);
    const bool small = double(rows) * rows * columns <= 1e8; // cheap enough
    for (int64_t at = 0; at < int64_t(all.size()); at += rows * columns) {
      auto matrix = llvm::ArrayRef(all).slice(at, rows * columns);
      numbers.operatorNorm =
          std::max(numbers.operatorNorm, operatorNorm(matrix, rows, columns));
      if (small)
        numbers.magnitude =
            std::max(numbers.magnitude, magnitude(matrix, rows, columns));
    }
  }
  return numbers;
}

static double lengthOf(llvm::ArrayRef<double> x) {
  double sum = 0;
  for (double v : x)
    sum += v * v;
  return std::sqrt(sum);
}

static void product(llvm::ArrayRef<float> matrix, llvm::ArrayRef<double> x,
                    std::vector<double> &y) {
  for (size_t r = 0; r < y.size(); ++r) {
    const float *row = matrix.data() + r * x.size();
    double sum = 0;
    for (size_t c = 0; c < x.size(); ++c)
      sum += row[c] * x[c];
    y[r] = sum;
  }
}

double mille::analyze::operatorNorm(llvm::ArrayRef<float> matrix, int64_t rows,
                                    int64_t columns) {
  std::vector<double> x(columns), y(rows);
  for (int64_t i = 0; i < columns; ++i) // unlikely to be orthogonal to any
    x[i] = 1 + 0.5 * std::sin(1.0 + 7.0 * i);
  double norm = 0;
  for (int turn = 0; turn < 40; ++turn) {
    const double length = lengthOf(x);
    if (length == 0)
      return 0;
    for (double &v : x)
      v /= length;
    product(matrix, x, y);
    const double now = lengthOf(y);
    if (std::fabs(now - norm) <= 1e-6 * now)
      return now;
    norm = now;
    std::fill(x.begin(), x.end(), 0.0);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        x[c] += matrix[r * columns + c] * y[r];
  }
  return norm;
}

double mille::analyze::magnitude(llvm::ArrayRef<float> matrix, int64_t rows,
                                 int64_t columns) {
  double square = 0, trace = 0;
  for (int64_t a = 0; a < rows; ++a)
    for (int64_t b = a; b < rows; ++b) {
      double dot = 0;
      for (int64_t c = 0; c < columns; ++c)
        dot += double(matrix[a * columns + c]) * matrix[b * columns + c];
      square += (a == b ? 1 : 2) * dot * dot;
      if (a == b)
        trace += dot;
    }
  return trace > 0 ? std::sqrt(square / trace) : 0;
}
