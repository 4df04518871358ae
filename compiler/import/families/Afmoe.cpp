// AFMoE (Trinity): norms around both branches, gated attention, RoPE on sliding
// layers only, experts with sigmoid scores.
#include "compiler/import/families/Decoder.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"AfmoeModel",
                                                    "AfmoeForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.gate", LAYER "self_attn.gate_proj"},
    {"layers.*.attn.branch_norm", LAYER "post_attention_layernorm"},
    {"layers.*.ffn.in_norm", LAYER "pre_mlp_layernorm"},
    {"layers.*.ffn.branch_norm", LAYER "post_mlp_layernorm"},
    {"layers.*.ffn.router", LAYER "mlp.router.gate"},
    {"layers.*.ffn.router.selection_bias", LAYER "mlp.expert_bias"}};

static constexpr llvm::StringRef silentKeys[] = {
    "load_balance_coeff", "num_expert_groups", "num_limited_groups",
    "use_grouped_mm"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 2048, 200192, 16, 0, 128, 6144, 1e-5});
  if (config.flag("mup_enabled", false))
    model.embedScale = std::sqrt(double(model.hidden.value));
  d.rope();
  config.mustBe("attention_bias", {"false"});
  d.normHeads(NormGroup::head);
  d.a.outputGate = Activation::sigmoid;
  int64_t every = config.extent("global_attn_every_n_layers", 4).value;
  d.slidingLayers(d.window("sliding_window", 1024),
                  [&](int64_t layer) { return (layer + 1) % every != 0; });
  for (auto [layer, attention] : llvm::enumerate(d.attentions()))
    if (!d.slides(layer))
      attention.rope.reset();
  config.mustBe("score_func", {"\"sigmoid\""});
  config.mustBe("n_group", {"1"});
  config.mustBe("topk_group", {"1"});
  Experts e = expertsOf(config, "num_experts", 64, 6);
  e.score = RouterScore::sigmoid;
  e.selectionBias = true;
  e.renormalised = true;
  config.mustBe("route_norm", {"true"});
  e.epsilon = 1e-20;
  e.factor = config.positive("route_scale", 1);
  d.expertsAfter(d.f, e, "num_dense_layers", 1, {1408, 2},
                 "num_shared_experts");
  d.sandwich();
  d.head(false);
}

const Family mille::import::afmoe =
    decoderFamily("afmoe", architectures, tensors, silentKeys, describe);
