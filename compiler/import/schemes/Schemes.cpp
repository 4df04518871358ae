// One array of rules per scheme. Sources are named with each; formulas are the
// source's, over the names that Schemes.h lists.
#include "compiler/import/schemes/Schemes.h"

using namespace mille::import;
using llvm::StringRef;
using P = Part;

static constexpr Parts attentionIn = P::query | P::key | P::value;
static constexpr Parts feedForward = P::ffnIn | P::gate | P::ffnOut;
static constexpr Parts linears =
    attentionIn | P::output | feedForward | P::router | P::dense;
static constexpr Parts tables = P::words | P::positions | P::tokenTypes;
static constexpr Parts matrices = linears | tables | P::head;
// The weights that DeepNorm and Magneto scale. Not q and k, since the softmax
// hides their scale.
static constexpr Parts felt = P::value | P::output | feedForward;

static constexpr StringRef xavierFormula = "sqrt(2/(fan_in+fan_out))";

static constexpr Rule usual[] = {
    {P::normWeight | P::branchNormWeight, Draw::fixed, "1"},
    // This gives rows a length of about 1.
    {tables | P::head, Draw::normal, "1/sqrt(fan_in)"},
    {linears, Draw::normal, xavierFormula}};

static constexpr Rule bertRules[] = {{matrices, Draw::normal, "0.02"}};
static constexpr Rule truncatedRules[] = {{matrices, Draw::truncated, "0.02"}};
static constexpr Rule gpt2Rules[] = {
    {P::output | P::ffnOut, Draw::normal, "0.02/sqrt(2*layers)"},
    {matrices, Draw::normal, "0.02"}};
static constexpr Rule llama2cRules[] = {
    {P::output | P::ffnIn, Draw::normal, "0.02/sqrt(2*layers)"},
    {matrices, Draw::normal, "0.02"}};
static constexpr Rule nanochatRules[] = {
    {P::output | P::ffnOut, Draw::fixed, "0"},
    {linears, Draw::uniform, "hidden_size^(-1/2)"},
    {Parts(P::words), Draw::normal, "1"},
    {Parts(P::head), Draw::normal, "0.001"}};
static constexpr Rule clipRules[] = {
    {attentionIn | P::ffnOut, Draw::normal,
     "hidden_size^(-1/2)*(2*layers)^(-1/2)"},
    {Parts(P::output), Draw::normal, "hidden_size^(-1/2)"},
    {P::ffnIn | P::gate, Draw::normal, "(2*hidden_size)^(-1/2)"},
    {Parts(P::positions), Draw::normal, "0.01"},
    {tables, Draw::normal, "0.02"},
    {linears, Draw::normal, "hidden_size^(-1/2)"}};
static constexpr Rule t5Rules[] = {
    {Parts(P::query), Draw::normal, "(hidden_size*head_dim)^(-1/2)"},
    {Parts(P::words), Draw::normal, "1"},
    {P::positions | P::head, Draw::normal, "hidden_size^(-1/2)"},
    {linears, Draw::normal, "1/sqrt(fan_in)"}};

static constexpr Rule xavierUniformRules[] = {
    {linears, Draw::uniform, xavierFormula}};
static constexpr Rule heRules[] = {{linears, Draw::normal, "sqrt(2/fan_in)"}};
static constexpr Rule heUniformRules[] = {
    {linears, Draw::uniform, "sqrt(2/fan_in)"}};
static constexpr Rule lecunRules[] = {
    {linears, Draw::normal, "1/sqrt(fan_in)"}};
static constexpr Rule lecunUniformRules[] = {
    {linears, Draw::uniform, "1/sqrt(fan_in)"}};
static constexpr Rule lecunTruncatedRules[] = {
    {linears, Draw::compensated, "1/sqrt(fan_in)"}};
static constexpr Rule ntkRules[] = {{linears, Draw::normal, "1"}};
static constexpr Rule roformerRules[] = {
    {matrices, Draw::compensated, "1/sqrt(fan_in*layers)"}};

static constexpr Rule deepnormRules[] = {
    {felt, Draw::normal, "sqrt(2/(fan_in+fan_out))*(8*layers)^(-1/4)",
     Stacks::alone},
    {felt, Draw::normal,
     "sqrt(2/(fan_in+fan_out))*0.87*(encoder_layers^4*decoder_layers)^(-1/16)",
     Stacks::encoder},
    {felt, Draw::normal, "sqrt(2/(fan_in+fan_out))*(12*decoder_layers)^(-1/4)",
     Stacks::decoder}};
// nn.Linear's default, U(+-fan_in^-1/2), also for biases; then all are divided.
static constexpr Rule torchscaleRules[] = {
    {felt, Draw::uniform, "(3*fan_in)^(-1/2)*(8*layers)^(-1/4)", Stacks::alone,
     Placement::any, 0, false, true},
    {felt, Draw::uniform,
     "(3*fan_in)^(-1/2)*1.15*(encoder_layers^4*decoder_layers)^(-1/16)",
     Stacks::encoder, Placement::any, 0, false, true},
    {felt, Draw::uniform, "(3*fan_in)^(-1/2)*(12*decoder_layers)^(-1/4)",
     Stacks::decoder, Placement::any, 0, false, true},
    {linears, Draw::uniform, "(3*fan_in)^(-1/2)", Stacks::any, Placement::any,
     0, false, true}};

#define SU(rules, postGain, preGain, scale)                                    \
  static constexpr Rule rules[] = {                                            \
      {linears, Draw::normal, "sqrt(2/(fan_in+fan_out))*units^(" postGain ")", \
       Stacks::any, Placement::post},                                          \
      {linears, Draw::normal, "sqrt(2/(fan_in+fan_out))*units^(" preGain ")",  \
       Stacks::any, Placement::pre},                                           \
      {linears, Draw::normal, "sqrt(2/(fan_in+fan_out))", Stacks::any,         \
       Placement::resPost},                                                    \
      {Parts(P::branchScale), Draw::fixed, "units^(" scale ")", Stacks::any,   \
       Placement::resPost}}
SU(suSgdRules, "-1/4", "-1/2", "-1/2");
SU(suAdamRules, "-1/2", "-1", "-1");
SU(suLambRules, "-1/2", "-1/2", "-1");
#undef SU

static constexpr Rule magnetoRules[] = {
    {felt, Draw::normal, "sqrt(2/(fan_in+fan_out))*sqrt(ln(2*layers))",
     Stacks::alone},
    {felt, Draw::normal,
     "sqrt(2/(fan_in+fan_out))*sqrt(ln(3*decoder_layers)*ln(2*encoder_layers)/"
     "3)",
     Stacks::encoder},
    {felt, Draw::normal, "sqrt(2/(fan_in+fan_out))*sqrt(ln(3*decoder_layers))",
     Stacks::decoder, Placement::any, 0, /*notCross=*/true}};
static constexpr Rule fixupRules[] = {
    {P::output | P::ffnOut, Draw::fixed, "0"},
    {P::ffnIn | P::gate, Draw::normal, "sqrt(2/(fan_in+fan_out))*units^(-1/2)",
     Stacks::alone},
    {attentionIn, Draw::normal, "sqrt(2/(fan_in+fan_out))*units^(-1/6)",
     Stacks::alone},
    {P::ffnIn | P::gate, Draw::normal,
     "sqrt(2/(fan_in+fan_out))*(2*encoder_layers+3*decoder_layers)^(-1/2)"},
    {attentionIn, Draw::normal,
     "sqrt(2/(fan_in+fan_out))*(2*encoder_layers+3*decoder_layers)^(-1/6)"},
    {Parts(P::branchScale), Draw::fixed, "1"}};
static constexpr Rule rezeroRules[] = {
    {Parts(P::branchScale), Draw::fixed, "0"}};
static constexpr Rule layerscaleRules[] = {
    {Parts(P::branchScale), Draw::fixed, "0.1", Stacks::any, Placement::any,
     18},
    {Parts(P::branchScale), Draw::fixed, "1e-5", Stacks::any, Placement::any,
     24},
    {Parts(P::branchScale), Draw::fixed, "1e-6"},
    {matrices, Draw::normal, "0.02"}};
static constexpr Rule swinRules[] = {
    {Parts(P::branchNormWeight), Draw::fixed, "0"},
    {matrices, Draw::normal, "0.02"}};

static constexpr StringRef rootOfDepth = "(2*layers)^(1/4)";
static constexpr StringRef encoderAlpha =
    "0.81*(encoder_layers^4*decoder_layers)^(1/16)";
static constexpr StringRef decoderAlpha = "(3*decoder_layers)^(1/4)";

static constexpr SchemeEntry entries[] = {
    {"bert",
     "BERT, ViT and most others: one deviation for all (Hugging Face's "
     "initializer_range)",
     bertRules},
    {"bert-truncated",
     "BERT's first code: the same cut at 2 deviations, not compensated",
     truncatedRules},
    {"gpt2", "GPT-2: what is summed shrinks with the depth of the sum",
     gpt2Rules},
    {"llama", "Llama: as bert", bertRules},
    {"llama2.c", "llama2.c: as gpt2, but o and up", llama2cRules},
    {"nanochat", "nanochat: uniform, what is summed starts at 0",
     nanochatRules},
    {"clip", "CLIP", clipRules},
    {"t5", "T5: 1/sqrt(head_dim) is in q's weights alone", t5Rules,
     Needs::unitLogits},
    {"xavier", "Glorot and Bengio", usual},
    {"xavier-uniform", "the same, uniform", xavierUniformRules},
    {"he", "He et al.: a relu halves the second moment", heRules},
    {"he-uniform", "the same, uniform", heUniformRules},
    {"lecun", "LeCun et al.: keeps the second moment; SELU's too", lecunRules},
    {"lecun-uniform", "the same, uniform", lecunUniformRules},
    {"lecun-truncated",
     "the same cut at 2 deviations and compensated by 1/sqrt(0.7737413), as "
     "JAX has it",
     lecunTruncatedRules},
    {"ntk",
     "Jacot et al.: deviation 1, and 1/sqrt(fan_in) as a factor of each linear",
     ntkRules, Needs::ntkForm},
    {"roformer-v2",
     "RoFormerV2 (bert4keras): cut at 2 deviations, compensated, by depth",
     roformerRules},
    {"deepnorm", "DeepNet's paper: gain on v, o and the feed-forward",
     deepnormRules, Needs::scaledPost, rootOfDepth, encoderAlpha, decoderAlpha},
    {"deepnorm-torchscale",
     "torchscale's code: nn.Linear's default under the gain, biases too; "
     "beside a "
     "decoder the encoder's gain is 1.15, not 0.87",
     torchscaleRules, Needs::scaledPost, rootOfDepth, encoderAlpha,
     decoderAlpha},
    {"su-sgd",
     "Su Jianlin's table for SGD: gain on every linear",
     suSgdRules,
     Needs::oneSuPlacement,
     "units^(1/4)",
     {},
     {},
     "units^(-1/2)"},
    {"su-adam",
     "the same for Adam",
     suAdamRules,
     Needs::oneSuPlacement,
     "units^(1/2)",
     {},
     {},
     "units^(-1)"},
    {"su-lamb",
     "the same for LAMB",
     suLambRules,
     Needs::oneSuPlacement,
     "1",
     {},
     {},
     "units^(-1)"},
    {"magneto",
     "Magneto (torchscale's subln): gain on v, o and the feed-forward",
     magnetoRules, Needs::innerNorms},
    {"fixup",
     "Fixup's code: what is summed starts at 0, the rest shrinks with the "
     "number of units",
     fixupRules, Needs::shiftsAndScales},
    {"rezero", "ReZero: a learned branch_scale that starts at 0", rezeroRules,
     Needs::learnedScale},
    {"skipinit", "SkipInit: the same", rezeroRules, Needs::learnedScale},
    {"layerscale", "CaiT's LayerScale: by depth 0.1, 1e-5, 1e-6",
     layerscaleRules, Needs::learnedChannels},
    {"timm-swinv2", "timm's Swin V2: branch_norm starts at 0", swinRules,
     Needs::branchNormWeight}};

llvm::ArrayRef<SchemeEntry> mille::import::schemes() { return entries; }

const SchemeEntry &mille::import::entryOf(Scheme scheme) {
  return entries[size_t(scheme)];
}

std::optional<Scheme> mille::import::schemeNamed(StringRef name) {
  for (const SchemeEntry &entry : entries)
    if (entry.name == name)
      return Scheme(&entry - entries);
  return std::nullopt;
}

llvm::ArrayRef<Rule> mille::import::usualRules() { return usual; }
