// Gemma: norms whose weights count from 1, words times sqrt(hidden), gated
// GELU.
#include "compiler/import/families/Decoder.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"GemmaModel",
                                                    "GemmaForCausalLM"};

static constexpr llvm::StringRef silentKeys[] = {"hidden_activation"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {28, 3072, 256000, 16, 16, 256, 24576, 1e-6},
            "gelu_pytorch_tanh");
  if (config.text("hidden_act", "") == "gelu") // as the first releases say
    d.f.act = Activation::gelu_tanh;
  d.norm.affine = Affine::one_plus_weight;
  model.embedScale = std::sqrt(double(model.hidden.value));
  d.rope();
  d.biases(config.flag("attention_bias", false));
  config.mustBe("use_bidirectional_attention", {"false"});
  d.preNorm();
  d.head(true);
}

const Family mille::import::gemma =
    decoderFamily("gemma", architectures, {}, silentKeys, describe);
