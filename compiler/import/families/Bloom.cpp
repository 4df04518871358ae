// BLOOM: ALiBi, a norm after the embedding, queries, keys and values of a head
// side by side in one matrix.
#include "compiler/import/Rope.h"
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"BloomModel",
                                                    "BloomForCausalLM"};

#define LAYER "transformer.h.*."
static constexpr TensorName tensors[] = {
    {"embed", "transformer.word_embeddings"},
    {"embed_norm", "transformer.word_embeddings_layernorm"},
    {"layers.*.attn.in_norm", LAYER "input_layernorm"},
    {"layers.*.attn.qkv", LAYER "self_attention.query_key_value"},
    {"layers.*.attn.o", LAYER "self_attention.dense"},
    {"layers.*.ffn.in_norm", LAYER "post_attention_layernorm"},
    {"layers.*.ffn.in", LAYER "mlp.dense_h_to_4h"},
    {"layers.*.ffn.out", LAYER "mlp.dense_4h_to_h"},
    {"final_norm", "transformer.ln_f"}};

static constexpr llvm::StringRef silentKeys[] = {"slow_but_exact",
                                                 "seq_length",
                                                 "skip_bias_add",
                                                 "skip_bias_add_qkv",
                                                 "attention_softmax_in_fp32",
                                                 "bias_dropout_fusion",
                                                 "masked_softmax_fusion",
                                                 "offset_alibi",
                                                 "n_inner"};

static void describe(Config &config, ModelSpec &model) {
  DecoderKeys keys;
  keys.headDim = ""; // hidden_size / heads, whatever
  keys.layers = config.either("n_layer", "num_hidden_layers");
  keys.hidden = config.either("hidden_size", "n_embed");
  keys.heads = config.either("n_head", "num_attention_heads");
  Decoder d(config, model, {2, 64, 250880, 8, 0, 0, 0, 1e-6}, "gelu_new", keys);
  d.layerNorm(config.positive("layer_norm_epsilon", 1e-5));
  model.embedNorm = d.norm;
  d.a.slopes = alibiSlopes(d.a.heads.value);
  d.a.layout = QkvLayout::grouped;
  d.biases(true);
  d.f.gated = false;
  d.feedForwardBiases(true);
  d.preNorm();
  if (config.flag("apply_residual_connection_post_layernorm", false))
    for (Unit &unit : model.units)
      unit.tap = Tap::normed;
  d.head(true);
}

const Family mille::import::bloom = decoderFamily(
    "bloom", architectures, tensors, silentKeys, describe, "transformer.");
