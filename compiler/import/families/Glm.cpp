// GLM-4: interleaved RoPE on half of each head, gate and up in one matrix.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"GlmModel", "GlmForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
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
  d.preNorm();
  d.head(false);
}

const Family mille::import::glm =
    decoderFamily("glm", architectures, tensors, {}, describe);
