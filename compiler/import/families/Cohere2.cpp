// Command R7B: as Command R, with RoPE and windows on three layers of four.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Cohere2Model",
                                                    "Cohere2ForCausalLM"};

static constexpr llvm::StringRef silentKeys[] = {
    "layer_switch", "order_of_interleaved_layers", "position_embedding_type",
    "rotary_pct", "use_embedding_sharing"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {40, 8192, 256000, 64, 0, 0, 22528, 1e-6});
  d.layerNorm(config.positive("layer_norm_eps", 1e-5), false);
  RopeKeys rope;
  rope.pairing = Pairing::interleaved;
  d.rope(rope);
  d.biases(config.flag("attention_bias", false));
  config.mustBe("use_qk_norm", {"false"});
  config.mustBe("use_gated_activation", {"true"});
  config.mustBe("use_parallel_block", {"true"});
  config.ignore("use_parallel_embedding");
  int64_t window = d.window("sliding_window", 4096);
  int64_t pattern = config.extent("sliding_window_pattern", 4).value;
  d.slidingLayers(window, [&](int64_t layer) { return (layer + 1) % pattern; });
  for (auto [layer, attention] : llvm::enumerate(d.attentions()))
    if (!d.slides(layer))
      attention.rope.reset();
  d.parallel(true);
  d.head(true, false, config.positive("logit_scale", 0.0625));
}

const Family mille::import::cohere2 =
    decoderFamily("cohere2", architectures, {}, silentKeys, describe);
