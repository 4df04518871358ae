// Numbers that the field knows by a formula: 3.5565588200778455 is
// (2*80)^(1/4), DeepNorm's decoder alpha. For `inspect`; nothing is computed
// from what it says.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace mille {

// What a model's numbers may follow from.
struct Dimensions {
  int64_t layers = 0; // of this stack
  int64_t otherLayers =
      0; // of the other one, where there are two: encoder or decoder
  int64_t hidden = 0;
  bool causal = false; // this stack: a decoder
};

// "(2*80)^(1/4), DeepNorm's decoder alpha" for a scale of a skip or a branch,
// or nothing. Formulas of the model's own depth are tried before those of
// another depth.
std::optional<std::string> knownScale(double value, const Dimensions &model);

// "sqrt(2304)" or "1/sqrt(64)" where the number under the root is whole.
std::optional<std::string> knownRoot(double value);

} // namespace mille
