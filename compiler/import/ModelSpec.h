// The description of a model in memory. Native specs and families fill it, and
// Build makes IR from it. Must not hold tensor names of files or numbers of
// weights.
#pragma once
#include "compiler/import/Extent.h"
#include "compiler/import/Tokens.h"
#include "dialects/transformer/Training.h"
#include "dialects/transformer/Transformer.h"

#include <optional>
#include <string>
#include <vector>

namespace mille::import {

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
  double init = 1; // initial value, if it is learned
  double from = 0, to = 1;
  int64_t steps = 0;
  mlir::LocationAttr at;
};

// No value, one value for every layer, or one value per layer.
template <typename T> struct PerLayer {
  std::vector<T> all;
  PerLayer() = default;
  PerLayer(T one) : all{std::move(one)} {}
  explicit operator bool() const { return !all.empty(); }
  const T *at(int64_t layer) const {
    if (all.empty())
      return nullptr;
    return &all[all.size() == 1 ? 0 : layer];
  }
};

// The channels of queries or keys that are normed together, and their weight.
enum class NormGroup {
  row,  // all heads as one row, a weight for every channel
  head, // each head, one weight [head_dim] for all
  heads // each head, a weight of its own: [heads, head_dim]
};
struct HeadNorm {
  Norm norm;
  NormGroup group = NormGroup::head;
};

// The frequencies for runs longer than `after` tokens; an empty list means
// dynamic NTK.
struct LongContext {
  int64_t after = 0;
  double stretch = 1;
  std::vector<double> frequencies;
};

struct Rope {
  std::vector<double> frequencies; // negative ones turn backwards
  transformer::Pairing pairing = transformer::Pairing::half;
  double attentionFactor = 1; // multiplies cosines and sines
  std::optional<LongContext> longContext;
};

// A factor on scores by position or number of keys: #transformer.length_scale.
struct LengthScale {
  transformer::LengthKind kind = transformer::LengthKind::log_keys;
  double base = 0, floor = 1, beta = 0;
  int64_t period = 0, offset = 0;
  bool byToken =
      false; // log_floor: p is the token's index, not its position id
};

// A bias by distance (T5): buckets[clamp(j - i, -D, D) + D] is a row of the
// table, [entries, heads].
struct DistanceTable {
  Extent entries;
  std::vector<int64_t> buckets; // 2D + 1
  bool shared = false;          // by all layers of the stack
};

// Scores between contents and distances (DeBERTa). The stack has a table
// [entries, hidden], which each layer projects; the distance j - i selects its
// row rows[clamp(j - i, -D, D) + D].
struct ContentTable {
  Extent entries;
  std::vector<int64_t> rows;           // 2D + 1
  Norm norm;                           // of the table
  bool ofQuery = false, ofKey = false; // whose contents
  bool ownProjections = false;         // else those of the keys and queries
  double factor = 1;
};

// Low-rank queries and keys (MLA). A head has `nope` dimensions without RoPE,
// then `rope` dimensions with it; all heads share one rotated key.
struct Latent {
  Extent queryRank; // 0: queries come straight from the stream
  Extent rank, nope, rope;
  Norm queryNorm, norm;
  bool queryBias = false, bias = false; // of the projections down
};

// The layout of queries, keys and values in the file.
enum class QkvLayout {
  separate,
  concat, // one matrix: all queries, all keys, all values
  grouped // one matrix: for each key head its queries, its key, its value
};

struct Attention {
  Extent heads, kvHeads, headDim, valueDim;
  transformer::Mask mask = transformer::Mask::bidirectional;
  bool cross = false;          // keys and values from the other stack
  bool prefixed = false;       // causal, but every query sees the first keys
  int64_t left = 0, right = 0; // window: i - left < j < i + right; 0: open
  int64_t chunk = 0;           // keys of other chunks are hidden
  bool chunksFromMask = false; // chunks begin at the first unmasked token
  QkvLayout layout = QkvLayout::separate;

  double scale = 1;
  bool divideByLayer = false; // divides the logits by layer + 1
  bool learnedScale = false;  // exp(min(logit_scale[h], ln 100))
  std::optional<LengthScale> lengthScale;
  double softcap = 0;
  bool sink = false; // a learned score per head, for a key without a value

  bool qBias = false, kBias = false, vBias = false, oBias = false;
  bool inputShift = false; // a learned scalar on the input of every linear
  transformer::Activation qkvAct = transformer::Activation::identity;
  double clip = 0; // q, k and v within +- clip
  HeadNorm qkNorm;
  bool normAfterRope = false;
  double qkGain = 1;

  std::optional<Rope> rope;
  bool rotateValue = false;
  std::vector<double> slopes; // ALiBi
  double slopeFactor = 1;
  bool slopesRounded = false;  // rounds slopes and their products to bfloat16
  bool slopesFromMask = false; // positions count from the first unmasked token
  // exp(score_scale[h] * softplus(score[h] . value)), added to a key's scores.
  bool scoreOfValue = false, scoreOfValueBias = false;
  std::optional<DistanceTable> distance;
  std::optional<ContentTable> content;
  std::vector<PairBias> pairBiases; // between the tokens of an image
  std::optional<AxialRope> axialRope;
  std::optional<WindowPlan> windows;

  std::optional<Latent> latent;
  std::vector<double> decay; // linear attention without softmax, one per head
  HeadNorm innerNorm{{}, NormGroup::row}; // before the output projection
  std::optional<transformer::Activation> outputGate; // applied to the input
};

enum class GateLayout { separate, concat, interleaved };

// Mixture of experts: how rows choose experts. FeedForward describes an expert.
struct Experts {
  Extent count, chosen;
  transformer::RouterScore score = transformer::RouterScore::softmax;
  bool softmaxChosen = false; // the softmax is over the chosen logits only
  bool renormalised = false;
  double epsilon = 0, factor = 1;
  bool selectionBias = false, routerBias = false;
  int64_t groups = 1, topGroups = 1;
  transformer::GroupScore groupScore = transformer::GroupScore::max;
  bool weighInput = false; // the weight multiplies an expert's input
  GateLayout layout = GateLayout::separate;
  Extent sharedSize;       // size of all shared experts together; 0: none
  bool sharedGate = false; // sigmoid(w . x) on their output
};

struct FeedForward {
  Extent size;
  transformer::Activation act = transformer::Activation::identity;
  bool gated = false;
  GateLayout layout = GateLayout::separate;
  bool activatedSecond = false; // which half of a fused gate + up is the gate
  bool inBias = false, outBias = false;
  bool inputShift = false; // a learned scalar on the input of every linear
  double limit = 0;        // gate <= limit, -limit <= up <= limit; 0: none
  double upOffset = 0;     // act(gate) * (up + offset)
  Norm innerNorm;          // before the output projection
  std::optional<Experts> experts;
};

// A sum over neighbouring tokens of the layer's input, whatever the unit's is:
// act(b + sum_j W_j x[t + j - taps / 2]), with zeros beside the sequence and
// for masked tokens.
struct Convolution {
  int64_t taps = 1; // odd
  Extent heads;     // the parts of a token, for the attention that moves them
  transformer::Activation act = transformer::Activation::identity;
};

struct Branch {
  std::string name;
  PerLayer<Attention> attention; // exactly one of the three
  PerLayer<FeedForward> feedForward;
  mlir::LocationAttr at;
  PerLayer<Convolution> convolution = {};
};

struct Unit {
  std::string name;
  PerLayer<Norm> inNorm, branchNorm, outNorm;
  transformer::Tap tap = transformer::Tap::input;
  PerLayer<Scale> skipScale, branchScale, streamScale;
  bool sharedInNorm = true; // several branches share one input norm
  std::vector<Branch> branches;
  mlir::LocationAttr at;
};

// Dense, activation, norm before the last linear (BERT's masked-language head).
struct HeadTransform {
  transformer::Activation act;
  Norm norm = {};
  Extent width = {}; // the result of dense; 0: the stream's width
  bool bias = true;
};

struct Head {
  bool tied = false, bias = false;
  double scale = 1, softcap = 0;
  std::optional<HeadTransform> transform;
  mlir::LocationAttr at;
  Extent outputs = {};    // 0: the vocabulary
  bool oneNumber = false; // a logit per token: [batch, tokens]
  std::string name = "head";
  // An output of one number per token for each row, in place of "logits".
  std::vector<std::string> rows = {};
};

// A learned token, "pool.probe", attends to the stream, without a skip; then
// a feed-forward unit. Its parameters begin with "pool.".
struct Probe {
  Attention attention;
  FeedForward feedForward;
  Norm norm;
};

// How the stack becomes one vector per sequence.
struct Pooling {
  std::string output = "pooler_output";
  transformer::Pool kind = transformer::Pool::first;
  int64_t id = 0;          // for first_id
  int64_t skip = 0;        // the number of first tokens to leave out
  bool everyToken = false; // includes masked tokens
  Norm norm;               // after pooling: "pool_norm"
  bool dense = true;       // "pooler", then act
  Extent width = {};       // the result of dense; 0: the stream's width
  transformer::Activation act = transformer::Activation::tanh;
  Extent projection;               // "projection" without bias; 0: none
  std::string projected;           // the name of its output
  std::optional<Probe> probe = {}; // in place of `kind`
};

// The vector per sequence that a classifier reads: the stack's pooled vector or
// another.
struct Reading {
  bool pooled = false;
  transformer::Pool kind = transformer::Pool::first;
  int64_t skip = 0;
  std::string name = "classifier";
  std::string output = {}; // the output for its own logits; empty: none
};

// The logits of a whole sequence: the sum of the logits of each reading, or one
// linear over all readings side by side.
struct Classifier {
  Extent labels;
  std::vector<Reading> readings;
  bool joined = false;
  double scale = 1;
  std::optional<HeadTransform> transform = {}; // of each reading
  std::string output = "logits";
};

// Compares the vectors of two stacks: exp("logit_scale") * cosine, plus
// "logit_bias" if there is one.
struct Contrast {
  bool bias = false;
  double initialScale = 0;
};

// A linear from one width to another beside the stack's units.
struct Projection {
  Extent width; // 0: none
  bool bias = false;
  explicit operator bool() const { return bool(width); }
};

// How a token chooses its row of the position table.
enum class PositionsFrom { input, ids, mask };
struct PositionRule {
  PositionsFrom from = PositionsFrom::input;
  int64_t padding = 0; // for `ids`: the id of padding tokens
  int64_t offset = 0;
  // Sinusoids with this divisor in place of a learned table; see `sinusoid`.
  std::optional<double> divisor;
  bool rounded = true; // to the f32 that a stored table would hold
  int64_t zeroRow = -1;
};

// For words narrower or wider than the stream: the sum that is projected.
enum class ProjectedAt { words, sum, normed };

// A stack: tokens, their embedding, units and final norm. A model may have
// several, connected (an encoder and a decoder) or not (towers).
struct Stack {
  // The prefix of its parameters' names: "encoder.".
  std::string prefix;
  bool decoder = false; // beside an encoder: its inputs are decoder_*
  Extent layers, hidden, vocab;
  std::optional<Image> image; // in place of words
  std::optional<Merging> merging;
  std::optional<Sound> sound;
  bool sharedWords = false; // one word table for all stacks: "embed"
  double embedScale = 1;
  Projection words; // words.width: the width of the word table
  ProjectedAt projectedAt = ProjectedAt::normed;
  Extent positions; // rows of the position table; 0: none
  PositionRule positionRule;
  Extent mostTokens; // of a sequence; 0: as many as there are positions
  Extent tokenTypes; // 0: none
  Norm embedNorm, finalNorm;
  Projection last; // after the final norm
  std::vector<Unit> units;
  // Replaces `units` if layers differ in more than norms and scales: a list of
  // units per layer.
  std::vector<std::vector<Unit>> layerUnits;
  // The prefix of each layer's parameters; empty: "layers.N.". Layers with
  // shared weights have the same prefix.
  std::vector<std::string> layerNames;
  std::string output = "last_hidden_state"; // empty: no output
  std::string states = "hidden_states";     // empty: not kept
  // Outputs of --hidden-states if stacks follow each other with different
  // widths, so that one list cannot hold all: one after the embedding, one
  // after the last layer.
  std::string embeddedState, lastState;
  bool lastStateNormed = true; // the last hidden state includes the final norm
  std::optional<Pooling> pooling;

  const std::vector<Unit> &unitsOf(int64_t layer) const {
    return layerUnits.empty() ? units : layerUnits[layer];
  }
};

// A model: the stack that the head reads, and the stacks before it.
struct ModelSpec : Stack {
  std::string name, family = "native";
  std::vector<Stack> before; // an encoder, a second tower
  bool ntk = false; // every linear but the head's has the factor 1/sqrt(inputs)
  std::optional<Head> head;
  std::optional<Classifier> classifier;
  std::optional<Contrast> contrast; // between the last two stacks
  std::optional<Training> training; // how the model is trained
  mlir::LocationAttr at;
};

class Problems;
// Checks that kv_heads divides heads. The error has both numbers and the
// nearest divisors.
void checkHeads(const Attention &attention, Problems &problems);

} // namespace mille::import
