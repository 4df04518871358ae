// Granite with experts: softmax over the chosen logits, experts stored as
// stacks.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"GraniteMoeModel",
                                                    "GraniteMoeForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.ffn.router", LAYER "block_sparse_moe.router.layer"},
    {"layers.*.ffn.experts.in", LAYER "block_sparse_moe.input_linear"},
    {"layers.*.ffn.experts.out", LAYER "block_sparse_moe.output_linear"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 32000, 32, 0, 0, 11008, 1e-6});
  d.rope();
  d.biases(config.flag("attention_bias", false));
  d.a.scale = config.positive("attention_multiplier", 1);
  model.embedScale = config.positive("embedding_multiplier", 1);
  d.f.experts = expertsOf(config, "num_local_experts", 8, 2);
  d.f.experts->softmaxChosen = true;
  d.f.experts->layout = GateLayout::concat;
  d.balance();
  d.preNorm();
  d.branchScale(config.positive("residual_multiplier", 1));
  d.head(false, false, 1 / config.positive("logits_scaling", 1));
}

const Family mille::import::graniteMoe =
    decoderFamily("granitemoe", architectures, tensors, {}, describe);
