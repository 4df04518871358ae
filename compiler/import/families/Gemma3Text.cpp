// Gemma 3, text: norms around both branches and of heads, RoPE of two bases.
#include "compiler/import/families/Decoder.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Gemma3TextModel",
                                                    "Gemma3ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.branch_norm", LAYER "post_attention_layernorm"},
    {"layers.*.ffn.in_norm", LAYER "pre_feedforward_layernorm"},
    {"layers.*.ffn.branch_norm", LAYER "post_feedforward_layernorm"}};

static constexpr llvm::StringRef silentKeys[] = {"hidden_act",
                                                 "attn_logit_softcapping"};

static void describe(Config &config, ModelSpec &model) {
  DecoderKeys keys;
  keys.act = "hidden_activation";
  Decoder d(config, model, {26, 2304, 262208, 8, 4, 256, 9216, 1e-6},
            "gelu_pytorch_tanh", keys);
  d.norm.affine = Affine::one_plus_weight;
  model.embedScale = std::sqrt(double(model.hidden.value));
  d.biases(config.flag("attention_bias", false));
  d.a.scale = 1 / std::sqrt(config.positive("query_pre_attn_scalar", 256));
  d.normHeads(NormGroup::head);
  RopeKeys full, local;
  full.theta = 1e6;
  full.layerType = "full_attention";
  local.thetaKey = "rope_local_base_freq";
  local.layerType = "sliding_attention";
  local.scaled = false;
  int64_t window = d.window("sliding_window", 4096);
  if (config.flag("use_bidirectional_attention", false)) {
    d.a.mask = Mask::bidirectional;
    window = window / 2 + 1;
  }
  d.rope(full);
  Rope near = config.rope(d.a.headDim, local);
  int64_t pattern = config.extent("sliding_window_pattern", 6).value;
  d.slidingLayers(window, [&](int64_t layer) { return (layer + 1) % pattern; });
  for (auto [layer, attention] : llvm::enumerate(d.attentions()))
    if (d.slides(layer)) {
      attention.rope = near;
      attention.right = attention.mask == Mask::bidirectional ? window : 0;
    }
  d.sandwich();
  d.head(true, false, 1, config.positive("final_logit_softcapping", 0));
}

const Family mille::import::gemma3Text =
    decoderFamily("gemma3_text", architectures, tensors, silentKeys, describe);
