// DeepSeek 3 and R1: DeepSeek 2 with sigmoid scores and a bias that only
// selects.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"DeepseekV3Model",
                                                    "DeepseekV3ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {{"layers.*.ffn.router.selection_bias",
                                          LAYER
                                          "mlp.gate.e_score_correction_bias"}};

static constexpr llvm::StringRef silentKeys[] = {
    "aux_loss_alpha",           "ep_size",     "num_mtp_layers",
    "num_nextn_predict_layers", "qk_head_dim", "seq_aux"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {61, 7168, 129280, 128, 0, 0, 18432, 1e-6});
  d.lowRank({1536, 512, 128, 64, 128}, 1e-6);
  d.biases(false, false, false, d.a.latent->bias);
  RopeKeys rope = d.interleaved();
  if (!config.flag("rope_interleave", true))
    rope.pairing = Pairing::half;
  d.a.rope = config.rope(d.a.latent->rope, rope);
  config.mustBe("head_dim", {std::to_string(d.a.latent->rope.value)});
  d.stretchScores();
  config.mustBe("scoring_func", {"\"sigmoid\""});
  config.mustBe("topk_method", {"\"noaux_tc\""});
  config.mustBe("moe_layer_freq", {"1"});
  Experts e = expertsOf(config, "n_routed_experts", 256, 8);
  e.score = RouterScore::sigmoid;
  e.selectionBias = true;
  e.renormalised = config.flag("norm_topk_prob", true);
  e.epsilon = 1e-20;
  e.factor = config.positive("routed_scaling_factor", 2.5);
  d.groups(e, "n_group", "topk_group", 8, 4);
  e.groupScore = GroupScore::sum_top2;
  d.expertsAfter(d.f, e, "first_k_dense_replace", 3, {2048, 1});
  d.preNorm();
  d.head(false);
}

const Family mille::import::deepseekV3 =
    decoderFamily("deepseek_v3", architectures, tensors, silentKeys, describe);
