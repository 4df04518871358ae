// OPT: learned positions counted from the mask; pre-norm, or post-norm with
// narrower word vectors (350m).
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"OPTModel",
                                                    "OPTForCausalLM"};

#define LAYER "model.decoder.layers.*."
static constexpr TensorName tensors[] = {
    {"embed", "model.decoder.embed_tokens"},
    {"embed_project", "model.decoder.project_in"},
    {"position", "model.decoder.embed_positions"},
    {"layers.*.attn.in_norm", LAYER "self_attn_layer_norm"},
    {"layers.*.attn.out_norm", LAYER "self_attn_layer_norm"},
    {"layers.*.attn.q", LAYER "self_attn.q_proj"},
    {"layers.*.attn.k", LAYER "self_attn.k_proj"},
    {"layers.*.attn.v", LAYER "self_attn.v_proj"},
    {"layers.*.attn.o", LAYER "self_attn.out_proj"},
    {"layers.*.ffn.in_norm", LAYER "final_layer_norm"},
    {"layers.*.ffn.out_norm", LAYER "final_layer_norm"},
    {"layers.*.ffn.in", LAYER "fc1"},
    {"layers.*.ffn.out", LAYER "fc2"},
    {"final_norm", "model.decoder.final_layer_norm"},
    {"project_last", "model.decoder.project_out"}};

static void describe(Config &config, ModelSpec &model) {
  DecoderKeys keys;
  keys.headDim = ""; // hidden_size / heads, whatever
  keys.size = "ffn_dim";
  keys.act = "activation_function";
  Decoder d(config, model, {12, 768, 50272, 12, 0, 0, 3072, 1e-6}, "relu",
            keys);
  d.layerNorm(1e-5);
  if (!config.flag("layer_norm_elementwise_affine", true)) {
    d.norm.affine = Affine::none;
    d.norm.bias = false;
  }
  model.positions = config.extent("max_position_embeddings", 2048);
  model.positions.value += 2;
  model.positionRule.from = PositionsFrom::mask;
  model.positionRule.offset = 1; // they count from 1, padding 0
  Extent words = config.extent("word_embed_proj_dim", model.hidden.value);
  if (words.value != model.hidden.value) {
    model.words = model.last = Projection{words, false};
    model.projectedAt = ProjectedAt::words;
  }
  bool bias = config.flag("enable_bias", true);
  d.biases(bias);
  d.f.gated = false;
  d.feedForwardBiases(bias);
  bool before = config.flag("do_layer_norm_before", true);
  if (before)
    d.preNorm();
  else
    d.postNorm();
  d.head(true);
  if (!before || config.flag("_remove_final_layer_norm", false))
    model.finalNorm = Norm();
}

const Family mille::import::opt =
    decoderFamily("opt", architectures, tensors, {}, describe);
