// OLMo 2: norms after the branches, and of all queries and all keys of a token.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Olmo2Model",
                                                    "Olmo2ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.branch_norm", LAYER "post_attention_layernorm"},
    {"layers.*.ffn.branch_norm", LAYER "post_feedforward_layernorm"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 50304, 32, 0, 0, 11008, 1e-5});
  d.rope();
  d.biases(config.flag("attention_bias", false));
  d.normHeads(NormGroup::row);
  d.normedBranches();
  d.head(false);
}

const Family mille::import::olmo2 =
    decoderFamily("olmo2", architectures, tensors, {}, describe);
