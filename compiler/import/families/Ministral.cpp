// Ministral: Mistral with windows on some layers.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"MinistralModel",
                                                    "MinistralForCausalLM"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 32000, 32, 8, 0, 14336, 1e-6});
  d.rope();
  int64_t window = d.window("sliding_window", 4096);
  d.slidingLayers(window, [&](int64_t) { return window > 0; });
  d.preNorm();
  d.head(false);
}

const Family mille::import::ministral =
    decoderFamily("ministral", architectures, {}, {}, describe);
