// Describes a residual unit as a list of facts in words, so that units of
// different layers can be compared. Must not know a model's family.
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

// The placement, named by the norm slots that are filled: "post-norm with a
// scaled skip (DeepNorm)".
std::string placementOf(transformer::ResidualOp unit);

// All facts: the placement in words and as a formula, then each branch, each
// norm and each scale.
Facts factsOf(transformer::ResidualOp unit, const Dimensions &model);

// What fills the slots of a unit, in words; "": nothing, or a scale of 1.
struct UnitSlots {
  std::string placement, formula; // "pre-norm", "x' = x + F(N(x))"
  bool normedTap = false;         // the skip begins after the input norm
  bool sharedInputNorm = false;   // one input norm for several branches
  std::string skipScale, outputNorm, streamScale;
  struct Branch {
    Facts facts;
    std::string inputNorm, norm, scale;
  };
  std::vector<Branch> branches;
};
UnitSlots slotsOf(transformer::ResidualOp unit, const Dimensions &model);

// A norm in words: "rms_norm eps 1e-06, times 1 + weight".
std::string normInWords(transformer::NormAttr norm);

} // namespace mille
