// gpt-oss: sinks, windows on every second layer, experts whose gate and up are
// interleaved and limited.
#include "compiler/import/Rope.h"
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"GptOssModel",
                                                    "GptOssForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.sink", LAYER "self_attn.sinks"},
    {"layers.*.ffn.router", LAYER "mlp.router"},
    {"layers.*.ffn.experts.in.weight", LAYER "mlp.experts.gate_up_proj", true},
    {"layers.*.ffn.experts.in.bias", LAYER "mlp.experts.gate_up_proj_bias"},
    {"layers.*.ffn.experts.out.weight", LAYER "mlp.experts.down_proj", true},
    {"layers.*.ffn.experts.out.bias", LAYER "mlp.experts.down_proj_bias"}};

static constexpr llvm::StringRef silentKeys[] = {"hidden_act",
                                                 "initial_context_length"};

static void describe(Config &config, ModelSpec &model) {
  DecoderKeys keys;
  keys.act = ""; // gate * sigmoid(1.702 gate), whatever hidden_act says
  Decoder d(config, model, {36, 2880, 201088, 64, 8, 64, 2880, 1e-5},
            "quick_gelu", keys);
  config.mustBe("swiglu_alpha", {"1.702"});
  RopeKeys rope;
  rope.theta = 150000;
  d.ropeOrYarn(rope, {32, 4096, false, yarnMagnitude(32)});
  d.biases(config.flag("attention_bias", true));
  d.a.sink = true;
  d.slidingLayers(d.window("sliding_window", 128),
                  [](int64_t layer) { return layer % 2 == 0; });
  Experts e = expertsOf(config, "num_local_experts", 128, 4);
  config.ignore("experts_per_token");
  e.softmaxChosen = e.routerBias = true;
  e.layout = GateLayout::interleaved;
  d.f.experts = e;
  d.f.limit = config.positive("swiglu_limit", 7);
  d.f.upOffset = 1;
  d.feedForwardBiases(true);
  d.balance();
  d.preNorm();
  d.head(false);
}

const Family mille::import::gptOss =
    decoderFamily("gpt_oss", architectures, tensors, silentKeys, describe);
