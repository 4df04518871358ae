// GLM-4: interleaved RoPE on half of each head, gate and up in one matrix; and
// GLM-4-0414, the same with norms around both branches.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"GlmModel",
                                                    "GlmForCausalLM"};
static constexpr llvm::StringRef architectures4[] = {"Glm4Model",
                                                     "Glm4ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.ffn.in", LAYER "mlp.gate_up_proj"}};
static constexpr TensorName tensors4[] = {
    {"layers.*.attn.branch_norm", LAYER "post_self_attn_layernorm"},
    {"layers.*.ffn.branch_norm", LAYER "post_mlp_layernorm"},
    {"layers.*.ffn.in", LAYER "mlp.gate_up_proj"}};

// All but where the norms are.
static Decoder described(Config &config, ModelSpec &model) {
  Decoder d(config, model, {40, 4096, 151552, 32, 2, 128, 13696, 1.5625e-07});
  RopeKeys rope;
  rope.partial = 0.5;
  rope.pairing = Pairing::interleaved;
  d.rope(rope);
  bool bias = config.flag("attention_bias", true);
  d.biases(bias, bias, bias, false);
  d.f.layout = GateLayout::concat;
  return d;
}

static void describe(Config &config, ModelSpec &model) {
  Decoder d = described(config, model);
  d.preNorm();
  d.head(false);
}

static void describe4(Config &config, ModelSpec &model) {
  Decoder d = described(config, model);
  d.sandwich();
  d.head(false);
}

const Family mille::import::glm =
    decoderFamily("glm", architectures, tensors, {}, describe);
const Family mille::import::glm4 =
    decoderFamily("glm4", architectures4, tensors4, {}, describe4);
