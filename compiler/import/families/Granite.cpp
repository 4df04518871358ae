// Granite: multipliers on words, scores, branches and logits.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"GraniteModel",
                                                    "GraniteForCausalLM"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 32000, 32, 0, 0, 11008, 1e-6});
  d.rope();
  d.biases(config.flag("attention_bias", false));
  d.a.scale = config.positive("attention_multiplier", 1);
  model.embedScale = config.positive("embedding_multiplier", 1);
  d.feedForwardBiases(config.flag("mlp_bias", false));
  d.preNorm();
  d.branchScale(config.positive("residual_multiplier", 1));
  d.head(false, false, 1 / config.positive("logits_scaling", 1));
}

const Family mille::import::granite =
    decoderFamily("granite", architectures, {}, {}, describe);
