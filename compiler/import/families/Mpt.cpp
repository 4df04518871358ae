// MPT: ALiBi, norms without bias, one matrix for queries, keys and values that
// may be clipped.
#include "compiler/import/Rope.h"
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

// The last one is what checkpoints with code of their own call it.
static constexpr llvm::StringRef architectures[] = {
    "MptModel", "MptForCausalLM", "MPTForCausalLM"};

#define LAYER "transformer.blocks.*."
static constexpr TensorName tensors[] = {
    {"embed", "transformer.wte"},
    {"layers.*.attn.in_norm", LAYER "norm_1"},
    {"layers.*.attn.qkv", LAYER "attn.Wqkv"},
    {"layers.*.attn.o", LAYER "attn.out_proj"},
    {"layers.*.ffn.in_norm", LAYER "norm_2"},
    {"layers.*.ffn.in", LAYER "ffn.up_proj"},
    {"layers.*.ffn.out", LAYER "ffn.down_proj"},
    {"final_norm", "transformer.norm_f"}};

static constexpr llvm::StringRef silentKeys[] = {
    "max_seq_len", "learned_pos_emb", "init_device",        "norm_type",
    "verbose",     "emb_pdrop",       "embedding_fraction", "logit_scale",
    "init_config", "tokenizer_name",  "expansion_ratio"};

static void describeAttention(Config &config, Attention &a) {
  const json::Value *object = config.object("attn_config");
  a.slopes = alibiSlopes(a.heads.value);
  if (!object)
    return;
  Fields fields = config.inside(*object, "attn_config");
  fields.mustBe("attn_type", {"\"multihead_attention\""});
  fields.mustBe("alibi", {"true"});
  fields.mustBe("alibi_bias_max", {"8"});
  fields.mustBe("prefix_lm", {"false"});
  fields.mustBe("qk_ln", {"false"});
  a.clip = fields.positive("clip_qkv", 0);
  a.scale = fields.positive("softmax_scale", a.scale);
}

static void describe(Config &config, ModelSpec &model) {
  DecoderKeys keys;
  keys.headDim = ""; // hidden_size / heads, whatever
  keys.layers = "n_layers";
  keys.hidden = "d_model";
  keys.heads = "n_heads";
  Decoder d(config, model, {24, 2048, 50368, 16, 0, 0, 0, 1e-6}, "gelu", keys);
  d.layerNorm(config.positive("layer_norm_epsilon", 1e-5), false);
  config.mustBe("no_bias", {"true"});
  describeAttention(config, d.a);
  d.a.layout = QkvLayout::concat;
  d.f.gated = false;
  d.preNorm();
  d.head(true);
}

const Family mille::import::mpt = decoderFamily(
    "mpt", architectures, tensors, silentKeys, describe, "transformer.");
