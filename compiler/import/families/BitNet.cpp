// BitNet: norms before both output projections, squared ReLU with a gate.
// Weights as they are stored, not rounded.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"BitNetModel",
                                                    "BitNetForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.inner_norm", LAYER "self_attn.attn_sub_norm"},
    {"layers.*.ffn.inner_norm", LAYER "mlp.ffn_sub_norm"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {30, 2560, 128256, 20, 5, 0, 6912, 1e-5}, "relu2");
  RopeKeys rope;
  rope.theta = 500000;
  d.rope(rope);
  d.biases(config.flag("attention_bias", false));
  d.a.innerNorm.norm = d.f.innerNorm = d.norm;
  d.preNorm();
  d.head(false);
}

const Family mille::import::bitNet =
    decoderFamily("bitnet", architectures, tensors, {}, describe);
