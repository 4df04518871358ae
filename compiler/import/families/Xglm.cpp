// XGLM: sinusoidal positions, words times sqrt(hidden), pre-norm.
#include "compiler/import/families/Decoder.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"XGLMModel",
                                                    "XGLMForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.in_norm", LAYER "self_attn_layer_norm"},
    {"layers.*.attn.o", LAYER "self_attn.out_proj"},
    {"layers.*.ffn.in_norm", LAYER "final_layer_norm"},
    {"layers.*.ffn.in", LAYER "fc1"},
    {"layers.*.ffn.out", LAYER "fc2"},
    {"final_norm", "model.layer_norm"}};

static constexpr llvm::StringRef otherTensors[] = {"embed_positions.weights"};

static void describe(Config &config, ModelSpec &model) {
  DecoderKeys keys;
  keys.headDim = ""; // hidden_size / heads, whatever
  keys.layers = config.either("num_layers", "num_hidden_layers");
  keys.hidden = config.either("d_model", "hidden_size");
  keys.heads = config.either("attention_heads", "num_attention_heads");
  keys.size = "ffn_dim";
  keys.act = "activation_function";
  Decoder d(config, model, {24, 1024, 256008, 16, 0, 0, 4096, 1e-6}, "gelu",
            keys);
  d.layerNorm(1e-5);
  if (config.flag("scale_embedding", true))
    model.embedScale = std::sqrt(double(model.hidden.value));
  model.positions = config.extent("max_position_embeddings", 2048);
  model.positions.value += 2;
  model.positionRule.offset = 2;
  model.positionRule.divisor = double(model.hidden.value / 2 - 1);
  model.positionRule.rounded = false;
  model.positionRule.zeroRow = config.integer("pad_token_id", 1);
  d.biases(true);
  d.f.gated = false;
  d.feedForwardBiases(true);
  d.preNorm();
  d.head(true);
}

const Family mille::import::xglm = decoderFamily(
    "xglm", architectures, tensors, {}, describe, "model.", otherTensors);
