// Finds the published formula behind a number: 3.5565588200778455 is
// (2*80)^(1/4), DeepNorm's decoder alpha. Only `inspect` uses it. Must not be
// used to compute anything.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace mille {

// The dimensions of a model that such formulas use.
struct Dimensions {
  int64_t layers = 0; // of this stack
  int64_t otherLayers =
      0; // of the other one, where there are two: encoder or decoder
  int64_t hidden = 0;
  bool causal = false; // this stack: a decoder
};

// Explains the scale of a skip or a branch, as in "(2*80)^(1/4), DeepNorm's
// decoder alpha", or returns nothing. It tries formulas with the model's own
// depth first.
std::optional<std::string> knownScale(double value, const Dimensions &model);

// "sqrt(2304)" or "1/sqrt(64)", if the number under the root is whole.
std::optional<std::string> knownRoot(double value);

} // namespace mille
