// Qwen 1.5 and 2 with experts: a shared expert behind a gate, dense layers
// among them.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Qwen2MoeModel",
                                                    "Qwen2MoeForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.ffn.shared.gate", LAYER "mlp.shared_expert.gate_proj"},
    {"layers.*.ffn.shared.in", LAYER "mlp.shared_expert.up_proj"},
    {"layers.*.ffn.shared.out", LAYER "mlp.shared_expert.down_proj"},
    {"layers.*.ffn.shared_gate", LAYER "mlp.shared_expert_gate"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {24, 2048, 151936, 16, 16, 0, 5632, 1e-6});
  d.rope();
  bool bias = config.flag("qkv_bias", true);
  d.biases(bias, bias, bias, false);
  d.askedWindows([](int64_t layer, int64_t most) {
    return layer < most && layer % 2 == 0;
  });

  FeedForward dense = d.f;
  d.f.experts = expertsOf(config, "num_experts", 60, 4);
  d.f.experts->renormalised = config.flag("norm_topk_prob", false);
  d.f.size = config.extent("moe_intermediate_size", 1408);
  d.f.experts->sharedSize =
      config.extent("shared_expert_intermediate_size", 5632);
  d.f.experts->sharedGate = true;
  d.denseAmong(dense);
  d.balance();
  d.preNorm();
  d.head(false);
}

const Family mille::import::qwen2Moe =
    decoderFamily("qwen2_moe", architectures, tensors, {}, describe);
