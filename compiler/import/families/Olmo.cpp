// OLMo: norms without parameters; queries, keys and values may be clipped.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"OlmoModel",
                                                    "OlmoForCausalLM"};

static constexpr llvm::StringRef silentKeys[] = {"rms_norm_eps"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 50304, 32, 0, 0, 11008, 1e-5});
  d.layerNorm(1e-5, false);
  d.norm.affine = Affine::none;
  d.rope();
  d.biases(config.flag("attention_bias", false));
  d.a.clip = config.positive("clip_qkv", 0);
  d.preNorm();
  d.head(false);
}

const Family mille::import::olmo =
    decoderFamily("olmo", architectures, {}, silentKeys, describe);
