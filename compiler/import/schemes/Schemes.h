// The table of initialisation schemes: for each role of a parameter a
// distribution and a formula, and what a spec must be like for the scheme.
// docs/init.md is made from it. Must not read specs or make weights.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mille::import {

// In the table's order.
enum class Scheme {
  bert,
  bertTruncated,
  gpt2,
  llama,
  llama2c,
  nanochat,
  clip,
  t5,
  xavier,
  xavierUniform,
  he,
  heUniform,
  lecun,
  lecunUniform,
  lecunTruncated,
  ntk,
  roformerV2,
  deepnorm,
  deepnormTorchscale,
  suSgd,
  suAdam,
  suLamb,
  magneto,
  fixup,
  rezero,
  skipinit,
  layerscale,
  swinV2
};

// The roles that a rule is for. They are bits, so that a rule can have several.
enum class Part : uint32_t {
  words = 1 << 0,
  positions = 1 << 1,
  tokenTypes = 1 << 2,
  query = 1 << 3,
  key = 1 << 4,
  value = 1 << 5,
  output = 1 << 6,
  ffnIn = 1 << 7,
  gate = 1 << 8,
  ffnOut = 1 << 9,
  router = 1 << 10,
  dense = 1 << 11, // any other linear
  head = 1 << 12,
  normWeight = 1 << 13,
  branchNormWeight = 1 << 14,
  branchScale = 1 << 15, // a learned one
};
using Parts = uint32_t;
constexpr Parts operator|(Part a, Part b) { return Parts(a) | Parts(b); }
constexpr Parts operator|(Parts a, Part b) { return a | Parts(b); }

enum class Draw {
  fixed,      // the formula is the value
  normal,     // the formula is the standard deviation, here and below
  uniform,    // within +- sqrt(3) deviations
  truncated,  // a normal cut at 2 deviations, which lowers the deviation to
              // sqrt(0.7737413) of itself
  compensated // truncated / sqrt(0.7737413): the formula is the deviation
};

// The stacks and units that a rule is for.
enum class Stacks { any, alone, encoder, decoder };
enum class Placement { any, pre, post, resPost };

struct Rule {
  Parts parts;
  Draw draw;
  // A formula of fan_in, fan_out, hidden_size, heads, head_dim, layers, units
  // (residual units of the stack), encoder_layers, decoder_layers.
  llvm::StringRef formula;
  Stacks stacks = Stacks::any;
  Placement placement = Placement::any;
  int64_t upToLayers = 0;  // 0: any depth
  bool notCross = false;   // excludes the linears of cross attention
  bool alsoBiases = false; // includes biases, with their linear's fan_in
};

// A condition on every unit of a spec.
enum class Needs {
  anything,
  scaledPost,       // post-norm, or normed skip, with skip_scale by a formula
  oneSuPlacement,   // all pre, all post with a formula, all res-post
  innerNorms,       // pre-norm with inner_norm in each branch (sub-LN)
  shiftsAndScales,  // no norms, learned scalars: branch_scale and input_shift
  learnedScale,     // a learned scalar branch_scale
  learnedChannels,  // a learned branch_scale of each channel
  branchNormWeight, // res-post-norm whose branch_norm has a weight
  unitLogits,       // logit_scale 1
  ntkForm,          // parametrisation "ntk"
};

struct SchemeEntry {
  llvm::StringRef name;
  llvm::StringRef says;       // and where it is from
  llvm::ArrayRef<Rule> rules; // the first that matches counts
  Needs needs = Needs::anything;
  // For scaledPost and oneSuPlacement: the skip_scale of post units, by stacks,
  // and the branch scale of res-post units.
  llvm::StringRef skip = {}, encoderSkip = {}, decoderSkip = {};
  llvm::StringRef branchScale = {};
};

llvm::ArrayRef<SchemeEntry> schemes();
const SchemeEntry &entryOf(Scheme scheme);
std::optional<Scheme> schemeNamed(llvm::StringRef name);

// The rules for parts that no rule of the scheme covers.
llvm::ArrayRef<Rule> usualRules();

// All names, separated by "|" as in SpecKeys.
inline constexpr llvm::StringLiteral schemeWords =
    "bert|bert-truncated|gpt2|llama|llama2.c|nanochat|clip|t5|xavier|"
    "xavier-uniform|he|he-uniform|lecun|lecun-uniform|lecun-truncated|ntk|"
    "roformer-v2|deepnorm|deepnorm-torchscale|su-sgd|su-adam|su-lamb|magneto|"
    "fixup|rezero|skipinit|layerscale|timm-swinv2";

} // namespace mille::import
