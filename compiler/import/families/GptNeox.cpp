// GPT-NeoX and Pythia: RoPE on a part of each head, queries, keys and values of
// a head side by side in one matrix, branches in parallel behind a norm each.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"GPTNeoXModel",
                                                    "GPTNeoXForCausalLM"};

#define LAYER "gpt_neox.layers.*."
static constexpr TensorName tensors[] = {
    {"embed", "gpt_neox.embed_in"},
    {"layers.*.attn.in_norm", LAYER "input_layernorm"},
    {"layers.*.attn.qkv", LAYER "attention.query_key_value"},
    {"layers.*.attn.o", LAYER "attention.dense"},
    {"layers.*.ffn.in_norm", LAYER "post_attention_layernorm"},
    {"layers.*.ffn.in", LAYER "mlp.dense_h_to_4h"},
    {"layers.*.ffn.out", LAYER "mlp.dense_4h_to_h"},
    {"final_norm", "gpt_neox.final_layer_norm"},
    {"head", "embed_out"}};

static constexpr llvm::StringRef otherTensors[] = {
    "layers.*.attention.bias", "layers.*.attention.masked_bias",
    "embed_out.weight"};

static void describe(Config &config, ModelSpec &model) {
  DecoderKeys keys;
  keys.headDim = "";
  Decoder d(config, model, {44, 6144, 50432, 64, 0, 0, 24576, 1e-6}, "gelu",
            keys);
  config.mustBe("head_dim", {std::to_string(d.a.headDim.value)});
  d.layerNorm(config.positive("layer_norm_eps", 1e-5));
  RopeKeys rope;
  rope.thetaKey = "rotary_emb_base";
  rope.partialKey = "rotary_pct";
  rope.partial = 0.25;
  d.rope(rope);
  d.a.layout = QkvLayout::grouped;
  d.biases(config.flag("attention_bias", true));
  d.f.gated = false;
  d.feedForwardBiases(true);
  if (config.flag("use_parallel_residual", true))
    d.parallel(false);
  else
    d.preNorm();
  d.head(false);
}

const Family mille::import::gptNeox =
    decoderFamily("gpt_neox", architectures, tensors, {}, describe, "gpt_neox.",
                  otherTensors);
