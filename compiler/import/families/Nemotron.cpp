// Nemotron: layer norms whose weights count from 1, squared ReLU, RoPE on half
// of each head.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"NemotronModel",
                                                    "NemotronForCausalLM"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 6144, 256000, 48, 0, 0, 24576, 1e-6}, "relu2");
  d.layerNorm(config.positive("norm_eps", 1e-5));
  d.norm.affine = Affine::one_plus_weight;
  RopeKeys rope;
  rope.partial = 0.5;
  d.rope(rope);
  d.biases(config.flag("attention_bias", false));
  d.f.gated = false;
  d.feedForwardBiases(config.flag("mlp_bias", false));
  d.preNorm();
  d.head(false);
}

const Family mille::import::nemotron =
    decoderFamily("nemotron", architectures, {}, {}, describe);
