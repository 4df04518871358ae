// Falcon: one or two norms before parallel branches, few key heads grouped with
// their queries in one matrix, RoPE or ALiBi in bfloat16.
#include "compiler/import/Rope.h"
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"FalconModel",
                                                    "FalconForCausalLM"};

#define LAYER "transformer.h.*."
static constexpr TensorName tensors[] = {
    {"embed", "transformer.word_embeddings"},
    {"layers.*.block.in_norm", LAYER "input_layernorm"},
    {"layers.*.attn.in_norm", LAYER "ln_attn"},
    {"layers.*.attn.in_norm", LAYER "input_layernorm"},
    {"layers.*.attn.qkv", LAYER "self_attention.query_key_value"},
    {"layers.*.attn.o", LAYER "self_attention.dense"},
    {"layers.*.ffn.in_norm", LAYER "ln_mlp"},
    {"layers.*.ffn.in_norm", LAYER "post_attention_layernorm"},
    {"layers.*.ffn.in", LAYER "mlp.dense_h_to_4h"},
    {"layers.*.ffn.out", LAYER "mlp.dense_4h_to_h"},
    {"final_norm", "transformer.ln_f"}};

static constexpr llvm::StringRef silentKeys[] = {"num_kv_heads"};

static void describe(Config &config, ModelSpec &model) {
  const bool grouped = config.flag("new_decoder_architecture", false);
  const bool oneKey = config.flag("multi_query", true) && !grouped;
  DecoderKeys keys;
  keys.headDim = ""; // hidden_size / heads, whatever
  keys.hidden = config.either("hidden_size", "n_embed");
  keys.layers = config.either("num_hidden_layers", "n_layer");
  keys.heads = config.either("num_attention_heads", "n_head");
  keys.kvHeads = grouped ? "num_kv_heads" : ""; // no key of that name
  keys.size = "ffn_hidden_size";
  keys.act = "activation";
  Decoder d(config, model, {32, 4544, 65024, 71, oneKey ? 1 : 0, 0, 0, 1e-6},
            "gelu", keys);
  d.layerNorm(config.positive("layer_norm_epsilon", 1e-5));
  d.a.layout = QkvLayout::grouped;
  if (!grouped && !oneKey) // the family's own code fails with another number
    if (Extent given = config.extent("num_kv_heads", d.a.heads.value);
        given.value != d.a.heads.value)
      config.error("num_kv_heads",
                   "num_kv_heads is " + llvm::Twine(given.value) + " but " +
                       d.a.heads.key + " is " + llvm::Twine(d.a.heads.value) +
                       " and neither multi_query nor "
                       "new_decoder_architecture is true");
  if (config.flag("alibi", false)) {
    d.a.slopes = alibiSlopes(d.a.heads.value);
    // Eager attention of the modeling code adds the bias to its mask and to its
    // scores: twice.
    d.a.slopeFactor = 2 * d.a.scale;
    d.a.slopesRounded = d.a.slopesFromMask = true;
    config.ignore("rope_theta");
    config.ignore("rope_scaling");
    config.ignore("rope_parameters");
  } else {
    d.rope();
  }
  bool bias = config.flag("bias", false);
  d.biases(bias);
  d.f.gated = false;
  d.feedForwardBiases(bias);
  const bool parallel = config.flag("parallel_attn", true);
  const bool twoNorms =
      grouped && config.integer("num_ln_in_parallel_attn", 2) == 2;
  config.ignore("num_ln_in_parallel_attn");
  if (grouped)
    config.mustBe("parallel_attn", {"true"});
  if (grouped || parallel)
    d.parallel(!twoNorms);
  else
    d.preNorm();
  d.head(true);
}

const Family mille::import::falcon = decoderFamily(
    "falcon", architectures, tensors, silentKeys, describe, "transformer.");
