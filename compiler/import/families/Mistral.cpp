// Mistral: grouped keys, a window on all layers.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"MistralModel",
                                                    "MistralForCausalLM"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 32000, 32, 8, 0, 14336, 1e-6});
  d.rope();
  d.a.left = d.window("sliding_window", 4096);
  d.preNorm();
  d.head(false);
}

const Family mille::import::mistral =
    decoderFamily("mistral", architectures, {}, {}, describe);
