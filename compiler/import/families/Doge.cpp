// Doge: a score of each key by its values, beside queries and keys; learned
// skips.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"DogeModel",
                                                    "DogeForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.score", LAYER "self_attn.dt_proj"},
    {"layers.*.attn.score_scale", LAYER "self_attn.A"},
    {"layers.*.attn.skip_scale", LAYER "input_residual"},
    {"layers.*.ffn.skip_scale", LAYER "post_attention_residual"}};

static constexpr llvm::StringRef silentKeys[] = {
    "norm_topk_prob", "num_experts", "num_experts_per_tok"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 1024, 32768, 8, 0, 0, 2048, 1e-6});
  d.rope();
  d.a.left = d.window("sliding_window");
  d.a.scoreOfValueBias = config.flag("attention_bias", false);
  d.biases(d.a.scoreOfValueBias);
  d.a.scoreOfValue = true;
  d.normHeads(NormGroup::head);
  d.feedForwardBiases(config.flag("mlp_bias", false));
  config.mustBe("is_moe", {"false"});
  model.mostTokens = config.extent("keep_window_size", 2048);
  if (model.mostTokens.value <
      config.extent("max_position_embeddings", 2048).value)
    config.problems.note(model.mostTokens.at,
                         "keep_window_size is " +
                             llvm::Twine(model.mostTokens.value) +
                             ": more tokens are refused, as a query would see "
                             "only so many");
  d.preNorm();
  Scale skip;
  skip.kind = ScaleKind::learned_channel;
  for (Unit &unit : model.units)
    unit.skipScale = skip;
  d.head(false);
}

const Family mille::import::doge =
    decoderFamily("doge", architectures, tensors, silentKeys, describe);
