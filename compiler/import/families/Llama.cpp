// Llama 1 to 3: pre-norm decoder with RMS norms, RoPE, grouped keys and values,
// gated SiLU.
#include "compiler/import/families/Families.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"LlamaModel",
                                                    "LlamaForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"embed", "model.embed_tokens"},
    {"layers.*.attn.in_norm", LAYER "input_layernorm"},
    {"layers.*.attn.q", LAYER "self_attn.q_proj"},
    {"layers.*.attn.k", LAYER "self_attn.k_proj"},
    {"layers.*.attn.v", LAYER "self_attn.v_proj"},
    {"layers.*.attn.o", LAYER "self_attn.o_proj"},
    {"layers.*.ffn.in_norm", LAYER "post_attention_layernorm"},
    {"layers.*.ffn.gate", LAYER "mlp.gate_proj"},
    {"layers.*.ffn.in", LAYER "mlp.up_proj"},
    {"layers.*.ffn.out", LAYER "mlp.down_proj"},
    {"final_norm", "model.norm"},
    {"head.weight", "lm_head.weight"}};

static constexpr llvm::StringRef otherTensors[] = {
    "layers.*.self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq",
    "lm_head.weight"};

static constexpr llvm::StringRef silentKeys[] = {
    "attention_dropout", "max_position_embeddings", "pretraining_tp"};

static void describe(Config &config, ModelSpec &model) {
  model.layers = config.extent("num_hidden_layers", 32, 1 << 16);
  model.hidden = config.extent("hidden_size", 4096);
  model.vocab = config.extent("vocab_size", 32000);
  Norm norm{NormKind::rms_norm, config.positive("rms_norm_eps", 1e-6),
            Affine::weight, false, config.at("rms_norm_eps")};
  model.finalNorm = norm;

  Attention a;
  a.heads = config.extent("num_attention_heads", 32, 1 << 16);
  a.kvHeads = config.extent("num_key_value_heads", a.heads.value, 1 << 16);
  checkHeads(a, config.problems);
  a.headDim = a.valueDim =
      config.has("head_dim") ? config.extent("head_dim", {}, 1 << 16)
                             : config.dividedHead(model.hidden, a.heads);
  a.mask = Mask::causal;
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  a.qBias = a.kBias = a.vBias = a.oBias = config.flag("attention_bias", false);
  a.rope = config.rope(a.headDim, 10000);
  FeedForward f;
  f.size = config.extent("intermediate_size", 11008);
  f.act = config.activation("hidden_act", "silu");
  f.gated = true;
  f.inBias = f.outBias = config.flag("mlp_bias", false);
  model.units = preNormUnits(a, f, norm);

  bool tied = config.flag("tie_word_embeddings", false);
  if (config.architecture == "LlamaForCausalLM")
    model.head = Head{tied, false, 1, 0, std::nullopt, config.at("vocab_size")};
}

const Family mille::import::llama{"llama",     architectures, "model.",
                                  tensors,     otherTensors,  silentKeys,
                                  Scheme::llama, describe};
