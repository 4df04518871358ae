// The schemes, as standard deviations of normals: bert, gpt2 and llama as their
// code has them, deepnorm after its paper, and the three classics.
#include "compiler/import/Recipe.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

llvm::ArrayRef<llvm::StringRef> mille::import::schemeNames() {
  static constexpr llvm::StringRef names[] = {
      "bert", "gpt2", "llama", "deepnorm", "xavier", "he", "lecun"};
  return names;
}

static mlir::Attribute drawn(Distribution distribution, double mean,
                             double deviation, uint64_t seed,
                             const Wanted &wanted,
                             mlir::MLIRContext &context) {
  llvm::SmallVector<int64_t> shape;
  for (const Dimension &dimension : wanted.shape)
    shape.push_back(dimension.size);
  return DrawnAttr::get(
      &context, distribution, mean, deviation, 0.0, seed, wanted.name,
      mlir::RankedTensorType::get(shape, mlir::Float32Type::get(&context)));
}

double Recipe::deviation(const Wanted &wanted) const {
  // The last two extents: [out, in], after the experts' number if any.
  const double fanOut = double(wanted.shape[wanted.shape.size() - 2].size);
  const double fanIn = double(wanted.shape.back().size);
  const Role role = wanted.role;
  const bool residual = role == Role::output || role == Role::ffnOut;
  const bool table = role == Role::embed || role == Role::position ||
                     role == Role::tokenType || role == Role::head;
  switch (scheme) {
  case Scheme::bert:
  case Scheme::llama:
    return 0.02;
  case Scheme::gpt2: // branch outputs shrink with the depth of the sum
    return residual ? 0.02 / std::sqrt(2.0 * layers) : 0.02;
  default:
    break;
  }
  if (table) // [entries, channels]: rows of length about 1
    return 1 / std::sqrt(fanIn);
  const double xavier = std::sqrt(2 / (fanIn + fanOut));
  switch (scheme) {
  case Scheme::he:
    return std::sqrt(2 / fanIn);
  case Scheme::lecun:
    return std::sqrt(1 / fanIn);
  case Scheme::deepnorm: { // (8N)^(-1/4), for one stack; softmax hides q and k
    bool full = role == Role::query || role == Role::key || role == Role::dense;
    return full ? xavier : xavier * std::pow(8.0 * layers, -0.25);
  }
  default:
    return xavier;
  }
}

mlir::Attribute Recipe::value(const Wanted &wanted) {
  switch (wanted.role) {
  case Role::normWeight:
    return drawn(Distribution::fixed, 1, 0, seed, wanted, context);
  case Role::normOffsetWeight:
  case Role::bias:
    return drawn(Distribution::fixed, 0, 0, seed, wanted, context);
  case Role::scale:
    return drawn(Distribution::fixed, wanted.init, 0, seed, wanted, context);
  default:
    return drawn(Distribution::normal, 0, deviation(wanted), seed, wanted,
                 context);
  }
}

mlir::Attribute NoWeights::value(const Wanted &wanted) {
  return drawn(Distribution::fixed, 0, 0, 0, wanted, context);
}
