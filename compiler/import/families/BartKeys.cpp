// Reading BART's keys, and the names of tensors that come with them.
#include "compiler/import/families/BartKeys.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

#define STACK(stack)                                                           \
  {stack ".embed", "model." stack ".embed_tokens"},                            \
      {stack ".embed", "model.shared"},                                        \
      {stack ".position", "model." stack ".embed_positions"},                  \
      {stack ".embed_norm", "model." stack ".layernorm_embedding"},            \
      {stack ".final_norm", "model." stack ".layer_norm"}

#define ATTENTION(stack, unit, file, placed)                                   \
  {stack ".layers.*." unit ".q", "model." stack ".layers.*." file ".q_proj"},  \
      {stack ".layers.*." unit ".k",                                           \
       "model." stack ".layers.*." file ".k_proj"},                            \
      {stack ".layers.*." unit ".v",                                           \
       "model." stack ".layers.*." file ".v_proj"},                            \
      {stack ".layers.*." unit ".o",                                           \
       "model." stack ".layers.*." file ".out_proj"},                          \
      {stack ".layers.*." unit "." placed,                                     \
       "model." stack ".layers.*." file "_layer_norm"}

#define FEED_FORWARD(stack, placed)                                            \
  {stack ".layers.*.ffn.in", "model." stack ".layers.*.fc1"},                  \
      {stack ".layers.*.ffn.out", "model." stack ".layers.*.fc2"},             \
      {stack ".layers.*.ffn." placed,                                          \
       "model." stack ".layers.*.final_layer_norm"}

// A norm has the same name in files wherever it is placed.
#define UNITS(placed)                                                          \
  ATTENTION("encoder", "attn", "self_attn", placed),                           \
      FEED_FORWARD("encoder", placed),                                         \
      ATTENTION("decoder", "attn", "self_attn", placed),                       \
      ATTENTION("decoder", "cross", "encoder_attn", placed),                   \
      FEED_FORWARD("decoder", placed)

static constexpr TensorName tensors[] = {
    {"embed", "model.shared"},
    {"embed", "model.encoder.embed_tokens"},
    {"embed", "model.decoder.embed_tokens"},
    STACK("encoder"),
    STACK("decoder"),
    UNITS("out_norm"),
    UNITS("in_norm"),
    {"encoder.first_convolution", "model.encoder.conv1"},
    {"encoder.second_convolution", "model.encoder.conv2"},
    {"head.weight", "lm_head.weight"},
    {"head.weight", "proj_out.weight"},
    {"head.bias", "final_logits_bias", false, 0, 1, true}};
const llvm::ArrayRef<TensorName> mille::import::bartTensors = tensors;

static constexpr StringRef others[] = {"shared.weight",
                                       "encoder.embed_tokens.weight",
                                       "decoder.embed_tokens.weight",
                                       "encoder.embed_positions.weight",
                                       "decoder.embed_positions.weight",
                                       "encoder.embed_positions.weights",
                                       "decoder.embed_positions.weights",
                                       "encoder.version",
                                       "decoder.version",
                                       "lm_head.weight",
                                       "proj_out.weight",
                                       "final_logits_bias"};
const llvm::ArrayRef<StringRef> mille::import::bartOtherTensors = others;

static constexpr StringRef silent[] = {"_num_labels",
                                       "activation_dropout",
                                       "attention_dropout",
                                       "classif_dropout",
                                       "classifier_dropout",
                                       "decoder_layerdrop",
                                       "dropout",
                                       "encoder_layerdrop",
                                       "extra_pos_embeddings",
                                       "force_bos_token_to_be_generated",
                                       "init_std",
                                       "num_hidden_layers",
                                       "save_step"};
const llvm::ArrayRef<StringRef> mille::import::bartSilentKeys = silent;

// Layers, heads and sizes of one stack, under "encoder_..." or "decoder_...".
static void readStack(Config &config, Stack &stack, StringRef side,
                      const BartDefaults &d, Activation act) {
  // The getters keep their keys: literals.
  const bool encoder = side == "encoder";
  auto key = [&](StringRef ofEncoder, StringRef ofDecoder) {
    return encoder ? ofEncoder : ofDecoder;
  };
  stack.prefix = side.str() + ".";
  stack.states = side.str() + "_hidden_states";
  // The classes also answer to the usual words, which mean the encoder's.
  stack.layers =
      config.extent(key(config.either("encoder_layers", "num_hidden_layers"),
                        "decoder_layers"),
                    d.layers, 1 << 16);
  Norm norm{NormKind::layer_norm, 1e-5, Affine::weight, true,
            config.at("d_model")};
  Attention a;
  a.heads = a.kvHeads = config.extent(
      key(config.either("encoder_attention_heads", "num_attention_heads"),
          "decoder_attention_heads"),
      d.heads, 1 << 16);
  a.headDim = a.valueDim = config.dividedHead(stack.hidden, a.heads);
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  a.qBias = a.kBias = a.vBias = a.oBias = true;
  Attention cross = a;
  if (!encoder)
    a.mask = Mask::causal;
  FeedForward f;
  f.size = config.extent(key("encoder_ffn_dim", "decoder_ffn_dim"), d.size);
  f.act = act;
  f.inBias = f.outBias = true;
  stack.units =
      d.preNorm ? preNormUnits(a, f, norm) : postNormUnits(a, f, norm);
  if (!encoder)
    stack.units = withCross(stack.units, cross, norm, d.preNorm);
  if (d.embedNorm)
    stack.embedNorm = norm;
  if (d.preNorm)
    stack.finalNorm = norm;
}

void mille::import::readBart(Config &config, ModelSpec &model,
                             const BartDefaults &d) {
  Stack encoder;
  encoder.hidden = model.hidden =
      config.extent(config.either("d_model", "hidden_size"), d.width);
  encoder.vocab = model.vocab = config.extent("vocab_size", d.vocab);
  encoder.sharedWords = model.sharedWords =
      config.flag("tie_word_embeddings", true);
  if (config.flag("scale_embedding", d.scaled))
    encoder.embedScale = model.embedScale =
        std::sqrt(double(model.hidden.value));
  Activation act = config.activation("activation_function", d.activation);
  readStack(config, encoder, "encoder", d, act);
  readStack(config, model, "decoder", d, act);
  model.decoder = true;
  encoder.output = "encoder_last_hidden_state";
  model.before = {encoder};

  // What older files say about the class itself.
  auto mustBe = [&](StringRef key, bool value) {
    config.mustBe(key, {value ? "true" : "false"});
  };
  mustBe("normalize_before", d.preNorm);
  mustBe("add_final_layer_norm", d.preNorm);
  mustBe("normalize_embedding", d.embedNorm);
  mustBe("is_decoder", false);
  mustBe("is_encoder_decoder", true);
}

void mille::import::learnPositions(Config &config, ModelSpec &model,
                                   StringRef key, int64_t usual,
                                   int64_t offset) {
  Extent rows = config.extent(key, usual);
  rows.value += offset;
  for (Stack *stack : {&model.before[0], static_cast<Stack *>(&model)}) {
    stack->positions = rows;
    stack->positionRule.offset = offset;
  }
}

void mille::import::addLogits(Config &config, ModelSpec &model,
                              StringRef bias) {
  Head head;
  head.tied = config.flag("tie_word_embeddings", true);
  head.bias = !bias.empty() && config.holds(bias, bias);
  head.at = config.at("vocab_size");
  model.head = head;
}
