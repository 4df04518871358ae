// What a model is, in memory: native specs and families fill it, Build makes IR
// of it. Holds no tensor names of other houses and no numbers of weights.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <optional>
#include <string>
#include <vector>

namespace mille::import {

// A size, with the key that says it, for messages. Always > 0 where used.
struct Extent {
  int64_t value = 0;
  std::string key;
  mlir::LocationAttr at;
  explicit operator bool() const { return value > 0; }
};

struct Norm {
  transformer::NormKind kind = transformer::NormKind::identity;
  double eps = 0;
  transformer::Affine affine = transformer::Affine::none;
  bool bias = false;
  mlir::LocationAttr at;
  bool present() const { return kind != transformer::NormKind::identity; }
};

struct Scale {
  transformer::ScaleKind kind = transformer::ScaleKind::constant;
  double value = 1;
  std::string formula;
  transformer::Share share = transformer::Share::unit;
  double init = 1; // of a learned one
  double from = 0, to = 1;
  int64_t steps = 0;
  mlir::LocationAttr at;
};

// Nothing, one for every layer, or one per layer.
template <typename T> struct PerLayer {
  std::vector<T> all;
  const T *at(int64_t layer) const {
    if (all.empty())
      return nullptr;
    return &all[all.size() == 1 ? 0 : layer];
  }
};

struct Rope {
  std::vector<double> frequencies;
  transformer::Pairing pairing = transformer::Pairing::half;
  double attentionFactor = 1;
};

struct Attention {
  Extent heads, kvHeads, headDim, valueDim;
  transformer::Mask mask = transformer::Mask::bidirectional;
  double scale = 1;
  bool divideByLayer = false; // the logits, by layer + 1
  double softcap = 0;
  bool qBias = false, kBias = false, vBias = false, oBias = false;
  std::optional<Rope> rope;
  std::vector<double> slopes; // ALiBi
};

enum class GateLayout { separate, concat, interleaved };

struct FeedForward {
  Extent size;
  transformer::Activation act = transformer::Activation::identity;
  bool gated = false;
  GateLayout layout = GateLayout::separate;
  bool activatedSecond = false; // which half of a fused gate + up is the gate
  bool inBias = false, outBias = false;
};

struct Branch {
  std::string name;
  std::optional<Attention> attention; // exactly one of the two
  std::optional<FeedForward> feedForward;
  mlir::LocationAttr at;
};

struct Unit {
  std::string name;
  PerLayer<Norm> inNorm, branchNorm, outNorm;
  transformer::Tap tap = transformer::Tap::input;
  PerLayer<Scale> skipScale, branchScale, streamScale;
  bool sharedInNorm = true; // by several branches
  std::vector<Branch> branches;
  mlir::LocationAttr at;
};

// Dense, activation, norm before the decoder (BERT's masked-language head).
struct HeadTransform {
  transformer::Activation act;
  Norm norm;
};

struct Head {
  bool tied = false, bias = false;
  double scale = 1, softcap = 0;
  std::optional<HeadTransform> transform;
  mlir::LocationAttr at;
};

struct ModelSpec {
  std::string name, family = "native";
  Extent layers, hidden, vocab;
  double embedScale = 1;
  Extent positions;  // learned ones; 0: none
  Extent tokenTypes; // 0: none
  Norm embedNorm, finalNorm;
  std::vector<Unit> units;
  bool pooler = false; // tanh(dense(first token))
  std::optional<Head> head;
  mlir::LocationAttr at;
};

class Problems;
// kv_heads must divide heads; an error with both and the nearest divisors.
void checkHeads(const Attention &attention, Problems &problems);

} // namespace mille::import
