// StableLM: norms with biases, RoPE on a part of each head, branches in
// parallel or in sequence.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"StableLmModel",
                                                    "StableLmForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.q_norm", LAYER "self_attn.q_layernorm.norms.%"},
    {"layers.*.attn.k_norm", LAYER "self_attn.k_layernorm.norms.%"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 2560, 50304, 32, 32, 0, 6912, 1e-6});
  d.layerNorm(config.positive("layer_norm_eps", 1e-5));
  RopeKeys rope;
  rope.partial = 0.25;
  rope.evenPart = true;
  d.rope(rope);
  bool bias = config.flag("use_qkv_bias", false);
  d.biases(bias, bias, bias, false);
  if (config.flag("qk_layernorm", false)) {
    d.normHeads(NormGroup::heads);
    d.a.qkNorm.norm.bias = false;
  }
  if (config.flag("use_parallel_residual", false))
    d.parallel(true);
  else
    d.preNorm();
  d.head(false);
}

const Family mille::import::stablelm =
    decoderFamily("stablelm", architectures, tensors, {}, describe);
