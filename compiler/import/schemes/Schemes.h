// Initialisation schemes as a table: a distribution and a formula for each role
// of a parameter, and what a spec must be for a scheme to mean anything.
// docs/init.md is written from it. No weights and no reading here.
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

// What a rule is for: bits, so that one rule serves several.
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
  compensated // the same divided by that: the formula is what comes out
};

// Which stacks and units a rule is for.
enum class Stacks { any, alone, encoder, decoder };
enum class Placement { any, pre, post, resPost };

struct Rule {
  Parts parts;
  Draw draw;
  // Over fan_in, fan_out, hidden_size, heads, head_dim, layers, units (residual
  // units of the stack), encoder_layers, decoder_layers.
  llvm::StringRef formula;
  Stacks stacks = Stacks::any;
  Placement placement = Placement::any;
  int64_t upToLayers = 0;  // 0: any depth
  bool notCross = false;   // not the linears of cross attention
  bool alsoBiases = false; // a bias's fan_in is its linear's
};

// What every unit of a spec must be.
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
  // Of scaledPost and oneSuPlacement: skip_scale of post units, by stacks; the
  // branch scale of res-post units.
  llvm::StringRef skip = {}, encoderSkip = {}, decoderSkip = {};
  llvm::StringRef branchScale = {};
};

llvm::ArrayRef<SchemeEntry> schemes();
const SchemeEntry &entryOf(Scheme scheme);
std::optional<Scheme> schemeNamed(llvm::StringRef name);

// Of a part no rule of a scheme is for: every scheme's last rules.
llvm::ArrayRef<Rule> usualRules();

// The names separated by "|", as SpecKeys lists words.
inline constexpr llvm::StringLiteral schemeWords =
    "bert|bert-truncated|gpt2|llama|llama2.c|nanochat|clip|t5|xavier|"
    "xavier-uniform|he|he-uniform|lecun|lecun-uniform|lecun-truncated|ntk|"
    "roformer-v2|deepnorm|deepnorm-torchscale|su-sgd|su-adam|su-lamb|magneto|"
    "fixup|rezero|skipinit|layerscale|timm-swinv2";

} // namespace mille::import
