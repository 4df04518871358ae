// nanochat: norms without weights, also behind the embedding and on heads
// behind RoPE, which turns backwards; squared ReLU, a soft cap on logits.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"NanoChatModel",
                                                    "NanoChatForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {{"layers.*.ffn.in", LAYER "mlp.fc1"},
                                         {"layers.*.ffn.out", LAYER "mlp.fc2"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {12, 768, 50304, 6, 0, 0, 8192, 1e-6}, "relu2");
  d.norm.affine = Affine::none;
  model.embedNorm = d.norm;
  d.rope();
  for (double &frequency : d.a.rope->frequencies)
    frequency = -frequency;
  if (auto &further = d.a.rope->longContext)
    for (double &frequency : further->frequencies)
      frequency = -frequency;
  d.biases(config.flag("attention_bias", false));
  d.normHeads(NormGroup::head, true);
  d.f.gated = false;
  d.preNorm();
  bool given = config.given("final_logit_softcapping");
  d.head(false, false, 1,
         config.positive("final_logit_softcapping", given ? 0 : 15));
}

const Family mille::import::nanoChat =
    decoderFamily("nanochat", architectures, tensors, {}, describe);
