// Gemma 2: norms around both branches, soft caps, windows on every second
// layer.
#include "compiler/import/families/Decoder.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Gemma2Model",
                                                    "Gemma2ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.branch_norm", LAYER "post_attention_layernorm"},
    {"layers.*.ffn.in_norm", LAYER "pre_feedforward_layernorm"},
    {"layers.*.ffn.branch_norm", LAYER "post_feedforward_layernorm"}};

static constexpr llvm::StringRef silentKeys[] = {"hidden_act"};

static void describe(Config &config, ModelSpec &model) {
  DecoderKeys keys;
  keys.act = "hidden_activation";
  Decoder d(config, model, {26, 2304, 256000, 8, 4, 256, 9216, 1e-6},
            "gelu_pytorch_tanh", keys);
  d.norm.affine = Affine::one_plus_weight;
  model.embedScale = std::sqrt(double(model.hidden.value));
  d.rope();
  d.biases(config.flag("attention_bias", false));
  d.a.scale = 1 / std::sqrt(config.positive("query_pre_attn_scalar", 256));
  d.a.softcap = config.given("attn_logit_softcapping")
                    ? config.positive("attn_logit_softcapping", 0)
                    : 50;
  config.mustBe("use_bidirectional_attention", {"false"});
  int64_t window = d.window("sliding_window", 4096);
  d.slidingLayers(window, [](int64_t layer) { return layer % 2 == 0; });
  d.sandwich();
  d.head(true, false, 1,
         config.given("final_logit_softcapping")
             ? config.positive("final_logit_softcapping", 0)
             : 30);
}

const Family mille::import::gemma2 =
    decoderFamily("gemma2", architectures, tensors, silentKeys, describe);
