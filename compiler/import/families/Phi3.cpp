// Phi 3 and 4: fused matrices, LongRoPE, a window.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"Phi3Model",
                                                    "Phi3ForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.qkv", LAYER "self_attn.qkv_proj"},
    {"layers.*.ffn.in", LAYER "mlp.gate_up_proj"}};

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 3072, 32064, 32, 0, 0, 8192, 1e-5});
  config.mustBe("attention_bias", {"false"});
  config.mustBe("mlp_bias", {"false"});
  RopeKeys rope;
  rope.partial = 1;
  rope.trained = 4096;
  d.rope(rope);
  config.ignore("original_max_position_embeddings");
  d.a.left = d.window("sliding_window");
  d.a.layout = QkvLayout::concat;
  d.f.layout = GateLayout::concat;
  d.preNorm();
  d.head(false);
}

const Family mille::import::phi3 =
    decoderFamily("phi3", architectures, tensors, {}, describe);
