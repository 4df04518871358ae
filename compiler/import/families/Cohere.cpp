// Command R: attention and feed-forward in parallel behind one norm without
// bias, interleaved RoPE, scaled logits.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"CohereModel",
                                                    "CohereForCausalLM"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {40, 8192, 256000, 64, 0, 0, 22528, 1e-6});
  d.layerNorm(config.positive("layer_norm_eps", 1e-5), false);
  RopeKeys rope;
  rope.theta = 500000;
  rope.pairing = Pairing::interleaved;
  d.rope(rope);
  d.biases(config.flag("attention_bias", false));
  if (config.flag("use_qk_norm", false))
    d.normHeads(NormGroup::heads);
  d.parallel(true);
  d.head(true, false, config.positive("logit_scale", 0.0625));
}

const Family mille::import::cohere =
    decoderFamily("cohere", architectures, {}, {}, describe);
