// A residual unit in words, fact by fact, so that units of different layers can
// be compared. Read off the ops; knows no family.
#pragma once
#include "compiler/driver/commands/KnownNumbers.h"
#include "dialects/transformer/Transformer.h"

namespace mille {

struct Fact {
  std::string what,
      value; // "skip scale", "2.63 = (2*24)^(1/4), DeepNorm's alpha"
  bool operator==(const Fact &other) const {
    return what == other.what && value == other.value;
  }
};

using Facts = std::vector<Fact>;

// "post-norm with a scaled skip (DeepNorm)": which norm slots are filled.
std::string placementOf(transformer::ResidualOp unit);

// The placement in words and in axes, each branch, each norm, each scale.
Facts factsOf(transformer::ResidualOp unit, const Dimensions &model);

// One norm: "rms_norm eps 1e-06, times 1 + weight".
std::string normInWords(transformer::NormAttr norm);

} // namespace mille
