// Phi 1 to 2: attention and feed-forward in parallel behind one norm, RoPE on a
// part of each head, biases everywhere.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"PhiModel",
                                                    "PhiForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.o", LAYER "self_attn.dense"},
    {"layers.*.attn.q_norm", LAYER "self_attn.q_layernorm"},
    {"layers.*.attn.k_norm", LAYER "self_attn.k_layernorm"},
    {"layers.*.ffn.in", LAYER "mlp.fc1"},
    {"layers.*.ffn.out", LAYER "mlp.fc2"},
    {"final_norm", "model.final_layernorm"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {24, 2048, 51200, 32, 0, 0, 8192, 1e-6}, "gelu_new");
  d.layerNorm(config.positive("layer_norm_eps", 1e-5));
  RopeKeys rope;
  rope.partial = 0.5;
  rope.evenPart = true;
  d.rope(rope);
  d.biases(true);
  if (config.flag("qk_layernorm", false))
    d.normHeads(NormGroup::head);
  d.f.gated = false;
  d.feedForwardBiases(true);
  d.parallel(true);
  d.head(false, true);
}

const Family mille::import::phi =
    decoderFamily("phi", architectures, tensors, {}, describe);
