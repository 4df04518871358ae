// Llama 1 to 3: pre-norm decoder with RMS norms, RoPE, grouped keys and values,
// gated SiLU.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"LlamaModel",
                                                    "LlamaForCausalLM"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 32000, 32, 0, 0, 11008, 1e-6});
  d.rope();
  d.biases(config.flag("attention_bias", false));
  d.feedForwardBiases(config.flag("mlp_bias", false));
  d.preNorm();
  d.head(false);
}

const Family mille::import::llama =
    decoderFamily("llama", architectures, {}, {}, describe);
