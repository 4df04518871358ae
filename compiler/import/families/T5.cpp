// T5, mT5 and UMT5: RMS norms before the branches, no scale on scores, a bias
// by bucketed distance instead of positions. The encoder alone, too.
#include "compiler/import/DistanceBuckets.h"
#include "compiler/import/families/Families.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

static constexpr StringRef t5Classes[] = {
    "T5Model", "T5ForConditionalGeneration", "T5EncoderModel",
    "T5WithLMHeadModel"}; // as the second was called
static constexpr StringRef mt5Classes[] = {
    "MT5Model", "MT5ForConditionalGeneration", "MT5EncoderModel"};
static constexpr StringRef umt5Classes[] = {
    "UMT5Model", "UMT5ForConditionalGeneration", "UMT5EncoderModel"};

#define ATTENTION(stack, unit, number, file)                                   \
  {stack ".layers.*." unit ".q",                                               \
   stack ".block.*.layer." number "." file ".q"},                              \
      {stack ".layers.*." unit ".k",                                           \
       stack ".block.*.layer." number "." file ".k"},                          \
      {stack ".layers.*." unit ".v",                                           \
       stack ".block.*.layer." number "." file ".v"},                          \
      {stack ".layers.*." unit ".o",                                           \
       stack ".block.*.layer." number "." file ".o"},                          \
      {stack ".layers.*." unit ".in_norm",                                     \
       stack ".block.*.layer." number ".layer_norm"},                          \
      {stack ".layers.*." unit ".relative",                                    \
       stack ".block.*.layer." number "." file ".relative_attention_bias"}

#define FEED_FORWARD(stack, number)                                            \
  {stack ".layers.*.ffn.in",                                                   \
   stack ".block.*.layer." number ".DenseReluDense.wi_1"},                     \
      {stack ".layers.*.ffn.in",                                               \
       stack ".block.*.layer." number ".DenseReluDense.wi"},                   \
      {stack ".layers.*.ffn.gate",                                             \
       stack ".block.*.layer." number ".DenseReluDense.wi_0"},                 \
      {stack ".layers.*.ffn.out",                                              \
       stack ".block.*.layer." number ".DenseReluDense.wo"},                   \
      {stack ".layers.*.ffn.in_norm",                                          \
       stack ".block.*.layer." number ".layer_norm"}

#define STACK(stack)                                                           \
  {stack ".embed", stack ".embed_tokens"}, {stack ".embed", "shared"},         \
      {stack ".relative",                                                      \
       stack ".block.0.layer.0.SelfAttention.relative_attention_bias"},        \
      {stack ".final_norm", stack ".final_layer_norm"}

static constexpr TensorName tensors[] = {
    {"embed", "shared"},
    {"embed", "encoder.embed_tokens"},
    {"embed", "decoder.embed_tokens"},
    STACK("encoder"),
    STACK("decoder"),
    ATTENTION("encoder", "attn", "0", "SelfAttention"),
    FEED_FORWARD("encoder", "1"),
    ATTENTION("decoder", "attn", "0", "SelfAttention"),
    ATTENTION("decoder", "cross", "1", "EncDecAttention"),
    FEED_FORWARD("decoder", "2"),
    {"head.weight", "lm_head.weight"}};

static constexpr StringRef otherTensors[] = {
    "shared.weight", "encoder.embed_tokens.weight",
    "decoder.embed_tokens.weight", "lm_head.weight",
    // Cross attention of old files, which nothing reads.
    "decoder.block.*.layer.*.EncDecAttention.relative_attention_bias.weight"};

static constexpr StringRef silentKeys[] = {
    "classifier_dropout",   "dropout_rate", "initializer_factor",
    "max_new_tokens",       "n_positions",  "scalable_attention",
    "scale_decoder_outputs"}; // where it has a head that reads it, it was read

static DistanceTable bucketsOf(Config &config, const Extent &entries,
                               const Extent &farthest, bool bothSides) {
  DistanceTable table;
  table.entries = entries;
  const int64_t count = bothSides ? entries.value / 2 : entries.value;
  const int64_t exact = count / 2, most = farthest.value;
  if (exact < 1 || most <= exact) {
    config.error("relative_attention_max_distance",
                 "relative_attention_max_distance is " + Twine(most) +
                     " but relative_attention_num_buckets is " +
                     Twine(entries.value) + ", of which the first " +
                     Twine(exact) + " are single distances");
    table.buckets = {0};
    return table;
  }
  table.buckets = distanceBuckets(entries.value, most, bothSides);
  return table;
}

// "relu", "gated-silu"; "gated-gelu" is the tanh form. Newer configurations
// also hold what follows from it, which counts where it differs.
static void readFeedForward(Config &config, FeedForward &f, StringRef usual) {
  std::string text = config.text("feed_forward_proj", usual);
  StringRef name = text;
  bool gated = name.consume_front("gated-");
  if (text == "gated-gelu")
    name = "gelu_new";
  f.gated = config.flag("is_gated_act", gated);
  if (Config::activationNamed(name)) {
    f.act = config.activation("dense_act_fn", name);
    return;
  }
  config.error("feed_forward_proj",
               "feed_forward_proj is \"" + text +
                   "\" but must be an activation, with or without \"gated-\" "
                   "before it");
}

// What the decoder's outputs are scaled by before the head: nothing, or the
// width's square root.
enum class Scaled { never, always, unlessUntied };

struct T5Defaults {
  int64_t size, layers, heads, vocab;
  StringRef feedForward;
  bool tableOfEachLayer;
  Scaled scaled;
};

static void readStack(Config &config, Stack &stack, StringRef side,
                      const T5Defaults &d) {
  const bool decoder = side == "decoder";
  stack.prefix = side.str() + ".";
  stack.states = side.str() + "_hidden_states";
  // The classes also answer to the usual words.
  stack.hidden = config.extent(config.either("d_model", "hidden_size"), 512);
  stack.vocab = config.extent("vocab_size", d.vocab);
  stack.sharedWords = true;
  stack.layers = config.extent(config.either("num_layers", "num_hidden_layers"),
                               d.layers, 1 << 16);
  if (decoder && config.has("num_decoder_layers"))
    stack.layers = config.extent("num_decoder_layers", d.layers, 1 << 16);
  Norm norm{NormKind::rms_norm, config.positive("layer_norm_epsilon", 1e-6),
            Affine::weight, false, config.at("layer_norm_epsilon")};
  stack.finalNorm = norm;

  Attention a;
  a.heads = a.kvHeads = config.extent(
      config.either("num_heads", "num_attention_heads"), d.heads, 1 << 16);
  a.headDim = a.valueDim =
      config.extent(config.either("d_kv", "head_dim"), 64, 1 << 16);
  Attention cross = a;
  a.mask = decoder ? Mask::causal : Mask::bidirectional;
  a.distance = bucketsOf(
      config, config.extent("relative_attention_num_buckets", 32, 1 << 16),
      config.extent("relative_attention_max_distance", 128, 1 << 20), !decoder);
  a.distance->shared = !d.tableOfEachLayer;
  FeedForward f;
  f.size = config.extent("d_ff", d.size);
  readFeedForward(config, f, d.feedForward);
  stack.units = preNormUnits(a, f, norm);
  if (decoder)
    stack.units = withCross(stack.units, cross, norm, true);
}

static void readT5(Config &config, ModelSpec &model, const T5Defaults &d) {
  config.mustBe("is_decoder", {"false"});
  StringRef architecture = config.architecture;
  if (architecture.ends_with("EncoderModel")) {
    readStack(config, model, "encoder", d);
    model.states = "hidden_states";
    config.ignore("num_decoder_layers");
    return;
  }
  config.mustBe("is_encoder_decoder", {"true"});
  model.before.emplace_back();
  readStack(config, model.before[0], "encoder", d);
  model.before[0].output = "encoder_last_hidden_state";
  readStack(config, model, "decoder", d);
  model.decoder = true;
  if (!architecture.ends_with("ForConditionalGeneration") &&
      architecture != "T5WithLMHeadModel")
    return;
  // The classes tie whatever the config says; files that hold another table
  // for the head mean it.
  Head head;
  const bool tied = config.flag("tie_word_embeddings", true);
  head.tied = tied || !config.holds("lm_head.weight", "lm_head.weight");
  head.at = config.at("vocab_size");
  bool scaled = d.scaled != Scaled::never;
  if (d.scaled == Scaled::unlessUntied)
    scaled = config.flag("scale_decoder_outputs", tied);
  if (scaled)
    head.scale = 1 / std::sqrt(double(model.hidden.value));
  model.head = head;
}

static void describeT5(Config &config, ModelSpec &model) {
  readT5(config, model,
         {2048, 6, 8, 32128, "relu", false, Scaled::unlessUntied});
}
static void describeMt5(Config &config, ModelSpec &model) {
  readT5(config, model,
         {1024, 8, 6, 250112, "gated-gelu", false, Scaled::never});
}
static void describeUmt5(Config &config, ModelSpec &model) {
  readT5(config, model,
         {1024, 8, 6, 250112, "gated-gelu", true, Scaled::always});
}

const Family mille::import::t5{"t5",         t5Classes,    "transformer.",
                               tensors,      otherTensors, silentKeys,
                               Scheme::bert, describeT5,   true};
const Family mille::import::mt5{"mt5",        mt5Classes,   "transformer.",
                                tensors,      otherTensors, silentKeys,
                                Scheme::bert, describeMt5,  true};
const Family mille::import::umt5{"umt5",       umt5Classes,  "transformer.",
                                 tensors,      otherTensors, silentKeys,
                                 Scheme::bert, describeUmt5, true};
