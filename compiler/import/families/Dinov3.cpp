// DINOv3 ViT: patches turn by row and column, CLS and registers do not;
// LayerScale; biases one by one.
#include "compiler/import/config/ConfigImage.h"
#include "compiler/import/families/Families.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::Twine;

static constexpr llvm::StringRef architectures[] = {"DINOv3ViTModel"};

#define LAYER "layer.*."
static constexpr TensorName tensors[] = {
    {"class", "embeddings.cls_token"},
    {"registers", "embeddings.register_tokens"},
    {"patch", "embeddings.patch_embeddings"},
    {"layers.*.attn.in_norm", LAYER "norm1"},
    {"layers.*.attn.q", LAYER "attention.q_proj"},
    {"layers.*.attn.k", LAYER "attention.k_proj"},
    {"layers.*.attn.v", LAYER "attention.v_proj"},
    {"layers.*.attn.o", LAYER "attention.o_proj"},
    {"layers.*.attn.branch_scale", LAYER "layer_scale1.lambda1"},
    {"layers.*.ffn.in_norm", LAYER "norm2"},
    {"layers.*.ffn.in", LAYER "mlp.up_proj"},
    {"layers.*.ffn.gate", LAYER "mlp.gate_proj"},
    {"layers.*.ffn.out", LAYER "mlp.down_proj"},
    {"layers.*.ffn.branch_scale", LAYER "layer_scale2.lambda1"},
    {"final_norm", "norm"}};

static constexpr llvm::StringRef otherTensors[] = {"embeddings.mask_token"};

static constexpr llvm::StringRef silentKeys[] = {
    "apply_layernorm",     "attention_dropout",     "drop_path_rate",
    "hidden_dropout_prob", "layerscale_value",      "out_features",
    "out_indices",         "pos_embed_jitter",      "pos_embed_rescale",
    "pos_embed_shift",     "reshape_hidden_states", "return_class_token",
    "stage_names"};

static AxialRope axialRope(Config &config, const Image &image,
                           const Attention &a) {
  const double theta = config.positive("rope_theta", 100);
  config.mustBe("rope_parameters", {"null"}); // the class does not read it
  if (a.headDim.value % 4)
    config.problems
        .error(a.heads.at, a.heads.key + " is " + Twine(a.heads.value) +
                               " but heads of " + Twine(a.headDim.value) +
                               " dimensions do not turn by two axes: 4 must "
                               "divide them")
        .note(a.headDim.at, a.headDim.key + " is " + Twine(a.headDim.value));
  return {image.grid(), image.leadingTokens(), theta};
}

static void describe(Config &config, ModelSpec &model) {
  model.layers = config.extent("num_hidden_layers", 12, 1 << 16);
  model.hidden = config.extent("hidden_size", 384);
  model.image = readImage(config, 224, 16, /*anySize=*/true);
  model.image->leading = {{"class", {1, "the CLS token", {}}}};
  if (int64_t registers = config.integer("num_register_tokens", 0)) {
    Extent count = config.extent("num_register_tokens", registers, 1 << 16);
    model.image->leading.push_back({"registers", count});
  }
  Norm norm{NormKind::layer_norm, config.positive("layer_norm_eps", 1e-5),
            Affine::weight, true, config.at("layer_norm_eps")};
  model.finalNorm = norm;
  model.lastStateNormed = false;

  Attention a = imageAttention(config, model.hidden, 6);
  a.qBias = config.flag("query_bias", true);
  a.kBias = config.flag("key_bias", false);
  a.vBias = config.flag("value_bias", true);
  a.oBias = config.flag("proj_bias", true);
  a.axialRope = axialRope(config, *model.image, a);
  FeedForward f = imageFeedForward(
      config, config.extent("intermediate_size", 1536), "gelu");
  f.inBias = f.outBias = config.flag("mlp_bias", true);
  f.gated = config.flag("use_gated_mlp", false);
  model.units = preNormUnits(a, f, norm);
  scaleBranches(model.units, 1, config.at("layerscale_value"));
  Pooling pooling;
  pooling.dense = false;
  model.pooling = pooling;
}

const Family mille::import::dinov3Vit{"dinov3_vit", architectures, "",
                                      tensors,      otherTensors,  silentKeys,
                                      Scheme::bert, describe};
