// HyperCLOVA X: multipliers as Granite, and norms before and after each branch.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"HyperCLOVAXModel",
                                                    "HyperCLOVAXForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.branch_norm", LAYER "post_norm1"},
    {"layers.*.ffn.branch_norm", LAYER "post_norm2"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 32000, 32, 0, 0, 11008, 1e-6});
  d.rope();
  d.biases(config.flag("attention_bias", false));
  d.feedForwardBiases(config.flag("mlp_bias", false));
  d.a.scale = config.positive("attention_multiplier", d.a.scale);
  model.embedScale = config.positive("embedding_multiplier", 1);
  if (config.flag("use_post_norm", true))
    d.sandwich();
  else
    d.preNorm();
  d.branchScale(config.positive("residual_multiplier", 1));
  d.head(false, false, config.positive("logits_scaling", 1));
}

const Family mille::import::hyperClovaX =
    decoderFamily("hyperclovax", architectures, tensors, {}, describe);
