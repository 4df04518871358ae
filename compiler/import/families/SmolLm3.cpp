// SmolLM 3: Llama without RoPE on every fourth layer.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"SmolLM3Model",
                                                    "SmolLM3ForCausalLM"};

static constexpr llvm::StringRef silentKeys[] = {"max_window_layers"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {36, 2048, 128256, 16, 4, 0, 11008, 1e-6});
  RopeKeys rope;
  rope.theta = 2e6;
  d.rope(rope);
  d.biases(config.flag("attention_bias", false));
  d.feedForwardBiases(config.flag("mlp_bias", false));
  std::vector<bool> turns = d.ropeLayers();
  int64_t window = d.window("sliding_window");
  if (!config.flag("use_sliding_window", false))
    window = 0;
  d.slidingLayers(window,
                  [&](int64_t layer) { return window && !turns[layer]; });
  for (auto [layer, attention] : llvm::enumerate(d.attentions()))
    if (!turns[layer])
      attention.rope.reset();
  d.preNorm();
  d.head(true);
}

const Family mille::import::smolLm3 =
    decoderFamily("smollm3", architectures, {}, silentKeys, describe);
