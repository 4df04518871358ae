// GLM-4-0414: GLM-4 with norms around both branches.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Glm4Model", "Glm4ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.branch_norm", LAYER "post_self_attn_layernorm"},
    {"layers.*.ffn.branch_norm", LAYER "post_mlp_layernorm"},
    {"layers.*.ffn.in", LAYER "mlp.gate_up_proj"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {40, 4096, 151552, 32, 2, 128, 13696, 1.5625e-07});
  RopeKeys rope;
  rope.partial = 0.5;
  rope.pairing = Pairing::interleaved;
  d.rope(rope);
  bool bias = config.flag("attention_bias", true);
  d.biases(bias, bias, bias, false);
  d.f.layout = GateLayout::concat;
  d.sandwich();
  d.head(false);
}

const Family mille::import::glm4 =
    decoderFamily("glm4", architectures, tensors, {}, describe);
