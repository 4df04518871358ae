// OLMo 3: OLMo 2 with windows on three layers of four; only the others have
// RoPE scaled.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Olmo3Model",
                                                    "Olmo3ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.branch_norm", LAYER "post_attention_layernorm"},
    {"layers.*.ffn.branch_norm", LAYER "post_feedforward_layernorm"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 50304, 32, 0, 0, 11008, 1e-5});
  d.biases(config.flag("attention_bias", false));
  d.normHeads(NormGroup::row);
  RopeKeys full, near;
  full.theta = near.theta = 500000;
  full.layerType = "full_attention";
  near.layerType = "sliding_attention";
  near.thetaKey = ""; // a flat rope_theta is for full layers only
  near.scaled = false;
  d.rope(full);
  Rope nearRope = config.rope(d.a.headDim, near);
  d.slidingLayers(d.window("sliding_window", 4096),
                  [](int64_t layer) { return (layer + 1) % 4; });
  for (auto [layer, attention] : llvm::enumerate(d.attentions()))
    if (d.slides(layer))
      attention.rope = nearRope;
  d.normedBranches();
  d.head(false);
}

const Family mille::import::olmo3 =
    decoderFamily("olmo3", architectures, tensors, {}, describe);
