// StarCoder 2: norms and linears with biases, ungated GELU, a window.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Starcoder2Model",
                                                    "Starcoder2ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.ffn.in", LAYER "mlp.c_fc"},
    {"layers.*.ffn.out", LAYER "mlp.c_proj"}};

static constexpr llvm::StringRef silentKeys[] = {"norm_type"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {30, 3072, 49152, 24, 2, 0, 12288, 1e-6},
            "gelu_pytorch_tanh");
  d.layerNorm(config.positive("norm_epsilon", 1e-5));
  config.mustBe("mlp_type", {"\"default\""});
  d.rope();
  d.a.left = d.window("sliding_window");
  bool bias = config.flag("use_bias", true);
  d.biases(bias);
  d.f.gated = false;
  d.feedForwardBiases(bias);
  d.preNorm();
  d.head(true);
}

const Family mille::import::starcoder2 =
    decoderFamily("starcoder2", architectures, tensors, silentKeys, describe);
