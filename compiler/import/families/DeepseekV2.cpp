// DeepSeek 2: low-rank attention, experts in groups beside shared ones, dense
// early layers.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"DeepseekV2Model",
                                                    "DeepseekV2ForCausalLM"};

static constexpr llvm::StringRef silentKeys[] = {
    "aux_loss_alpha", "ep_size", "head_dim", "qk_head_dim", "seq_aux"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 102400, 32, 0, 0, 11008, 1e-6});
  d.lowRank({1536, 512, 128, 64, 128}, 1e-6);
  d.biases(false, false, false, d.a.latent->bias);
  d.a.rope = config.rope(d.a.latent->rope, d.interleaved());
  d.stretchScores();
  config.mustBe("norm_topk_prob", {"false"});
  config.mustBe("scoring_func", {"\"softmax\""});
  config.mustBe("moe_layer_freq", {"1"});
  config.mustBe("mlp_bias", {"false"});
  FeedForward dense = d.f;
  Experts e = expertsOf(config, "n_routed_experts", 64, 6);
  e.factor = config.positive("routed_scaling_factor", 1);
  bool groups =
      config.word("topk_method", {"greedy", "group_limited_greedy"}, 0);
  if (groups)
    d.groups(e, "n_group", "topk_group", 1, 1);
  config.ignore("n_group");
  config.ignore("topk_group");
  d.expertsAfter(dense, e, "first_k_dense_replace", 0, {1407, 2});
  d.preNorm();
  d.head(false);
}

const Family mille::import::deepseekV2 =
    decoderFamily("deepseek_v2", architectures, {}, silentKeys, describe);
