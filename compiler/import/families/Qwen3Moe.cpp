// Qwen 3 with experts: norms of query and key heads, dense layers among them.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Qwen3MoeModel",
                                                    "Qwen3MoeForCausalLM"};

static constexpr llvm::StringRef silentKeys[] = {"max_window_layers"};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {24, 2048, 151936, 32, 4, 0, 6144, 1e-6});
  d.rope();
  d.biases(config.flag("attention_bias", false));
  d.normHeads(NormGroup::head);
  int64_t window = d.window("sliding_window", 4096);
  if (config.flag("use_sliding_window", false))
    d.a.left = window;

  FeedForward dense = d.f;
  d.f.experts = expertsOf(
      config, config.either("num_experts", "num_local_experts"), 128, 8);
  d.f.experts->renormalised = config.flag("norm_topk_prob", false);
  d.f.size = config.extent("moe_intermediate_size", 768);
  d.denseAmong(dense);
  d.balance();
  d.preNorm();
  d.head(false);
}

const Family mille::import::qwen3Moe =
    decoderFamily("qwen3_moe", architectures, {}, silentKeys, describe);
