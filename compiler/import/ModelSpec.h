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

// A bias by distance (T5): buckets[clamp(j - i, -D, D) + D] is a row of the
// table, [entries, heads].
struct DistanceTable {
  Extent entries;
  std::vector<int64_t> buckets; // 2D + 1
  bool shared = false;          // by all layers of the stack
};

struct Attention {
  Extent heads, kvHeads, headDim, valueDim;
  bool cross = false; // keys and values from the encoder's stream
  transformer::Mask mask = transformer::Mask::bidirectional;
  double scale = 1;
  bool divideByLayer = false; // the logits, by layer + 1
  double softcap = 0;
  bool qBias = false, kBias = false, vBias = false, oBias = false;
  std::optional<Rope> rope;
  std::vector<double> slopes; // ALiBi
  std::optional<DistanceTable> distance;
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
  Extent width = {}; // of dense's result; 0: the stream's
  bool bias = true;
};

struct Head {
  bool tied = false, bias = false;
  double scale = 1, softcap = 0;
  std::optional<HeadTransform> transform;
  mlir::LocationAttr at;
  Extent outputs = {}; // 0: the vocabulary
  bool oneNumber = false; // a logit per token: [batch, tokens]
};

// What becomes of the stack as one vector per sequence.
struct Pooling {
  std::string output = "pooler_output";
  transformer::Pool kind = transformer::Pool::first;
  int64_t id = 0;     // of first_id
  int64_t skip = 0;   // tokens before the first that counts
  Norm norm;          // after pooling: "pool_norm"
  bool dense = true;  // "pooler", then act
  transformer::Activation act = transformer::Activation::tanh;
  Extent projection;  // "projection" without bias; 0: none
  std::string projected; // its output's name
};

// A linear from one width to another beside the stack's units.
struct Projection {
  Extent width; // 0: none
  bool bias = false;
  explicit operator bool() const { return bool(width); }
};

// What says which row of the position table a token takes.
enum class PositionsFrom { input, ids, mask };
struct PositionRule {
  PositionsFrom from = PositionsFrom::input;
  int64_t padding = 0; // of `ids`: the id that does not count
  int64_t offset = 0;
  // Sinusoids with this divisor in place of a learned table; see `sinusoid`.
  std::optional<double> divisor;
  int64_t zeroRow = -1;
};

// Where words are not as wide as the stream: which sum is projected to it.
enum class ProjectedAt { words, sum, normed };

// Tokens, their embedding, units and final norm. A model has one, or several
// that give each other something (an encoder and a decoder) or not (towers).
struct Stack {
  // Before its parameters' names: "encoder.".
  std::string prefix;
  bool decoder = false; // beside an encoder: its inputs are decoder_*
  Extent layers, hidden, vocab;
  bool sharedWords = false; // one word table for all stacks: "embed"
  double embedScale = 1;
  Projection words; // words.width is theirs
  ProjectedAt projectedAt = ProjectedAt::normed;
  Extent positions;  // rows of the position table; 0: none
  PositionRule positionRule;
  Extent tokenTypes; // 0: none
  Norm embedNorm, finalNorm;
  Projection last; // after the final norm
  std::vector<Unit> units;
  // In place of `units` where layers differ in more than norms and scales: a
  // list for each layer.
  std::vector<std::vector<Unit>> layerUnits;
  // What the parameters of a layer begin with; none: "layers.N.". Layers that
  // share their weights have the same.
  std::vector<std::string> layerNames;
  std::string output = "last_hidden_state"; // empty: no output
  std::string states = "hidden_states";
  bool lastStateNormed = true; // the last hidden state is after the final norm
  std::optional<Pooling> pooling;

  const std::vector<Unit> &unitsOf(int64_t layer) const {
    return layerUnits.empty() ? units : layerUnits[layer];
  }
};

// The stack that the head reads, and those before it.
struct ModelSpec : Stack {
  std::string name, family = "native";
  std::vector<Stack> before; // an encoder, a second tower
  std::optional<Head> head;
  mlir::LocationAttr at;
};

class Problems;
// kv_heads must divide heads; an error with both and the nearest divisors.
void checkHeads(const Attention &attention, Problems &problems);

} // namespace mille::import
