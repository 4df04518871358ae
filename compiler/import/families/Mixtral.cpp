// Mixtral: Mistral with experts, whose weights are renormalised.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"MixtralModel",
                                                    "MixtralForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.ffn.router", LAYER "block_sparse_moe.gate"},
    {"layers.*.ffn.experts.gate", LAYER "block_sparse_moe.experts.%.w1"},
    {"layers.*.ffn.experts.in", LAYER "block_sparse_moe.experts.%.w3"},
    {"layers.*.ffn.experts.out", LAYER "block_sparse_moe.experts.%.w2"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 32000, 32, 8, 0, 14336, 1e-5});
  RopeKeys rope;
  rope.theta = 1e6;
  d.rope(rope);
  d.a.left = d.window("sliding_window");
  d.f.experts = expertsOf(config, "num_local_experts", 8, 2);
  d.f.experts->renormalised = true;
  d.balance();
  d.preNorm();
  d.head(false);
}

const Family mille::import::mixtral =
    decoderFamily("mixtral", architectures, tensors, {}, describe);
