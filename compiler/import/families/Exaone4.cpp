// EXAONE 4: norms after the branches and on heads; RoPE on sliding layers only,
// where there are any.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Exaone4Model",
                                                    "Exaone4ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.branch_norm", LAYER "post_attention_layernorm"},
    {"layers.*.ffn.branch_norm", LAYER "post_feedforward_layernorm"}};

// "LLLG": local and global layers in turn, the last global; or every n-th is.
static std::vector<bool> slidingPattern(Config &config, int64_t layers,
                                        int64_t window) {
  std::vector<bool> near(layers, false);
  const json::Value *value = config.take("sliding_window_pattern");
  llvm::StringRef letters;
  if (value)
    letters = value->text;
  int64_t every = 4;
  if (letters.empty())
    every = config.extent("sliding_window_pattern", 4).value;
  for (int64_t layer = 0; layer < layers && window; ++layer)
    near[layer] = letters.empty() ? (layer + 1) % every != 0
                                  : letters[layer % letters.size()] == 'L' &&
                                        layer + 1 < layers;
  return near;
}

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 102400, 32, 32, 0, 16384, 1e-5});
  d.rope();
  d.normHeads(NormGroup::head);
  int64_t window = d.window("sliding_window", 4096);
  std::vector<bool> near = slidingPattern(config, model.layers.value, window);
  d.slidingLayers(window, [&](int64_t layer) { return near[layer]; });
  for (auto [layer, attention] : llvm::enumerate(d.attentions()))
    if (window && !d.slides(layer))
      attention.rope.reset();
  d.normedBranches();
  d.head(false);
}

const Family mille::import::exaone4 =
    decoderFamily("exaone4", architectures, tensors, {}, describe);
