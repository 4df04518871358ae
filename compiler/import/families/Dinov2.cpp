// DINOv2: ViT with LayerScale, a gated feed-forward in the largest, and a
// classifier on CLS beside the mean of the patches; with registers or without.
#include "compiler/import/config/ConfigImage.h"
#include "compiler/import/families/Families.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::Twine;

static constexpr llvm::StringRef architectures[] = {
    "Dinov2Model", "Dinov2ForImageClassification"};
static constexpr llvm::StringRef withRegisters[] = {
    "Dinov2WithRegistersModel", "Dinov2WithRegistersForImageClassification"};

#define LAYER(base) base "encoder.layer.*."
#define TENSORS(base)                                                          \
  {"class", base "embeddings.cls_token"},                                      \
      {"position.weight", base "embeddings.position_embeddings"},              \
      {"patch", base "embeddings.patch_embeddings.projection"},                \
      {"layers.*.attn.in_norm", LAYER(base) "norm1"},                          \
      {"layers.*.attn.q", LAYER(base) "attention.attention.query"},            \
      {"layers.*.attn.k", LAYER(base) "attention.attention.key"},              \
      {"layers.*.attn.v", LAYER(base) "attention.attention.value"},            \
      {"layers.*.attn.o", LAYER(base) "attention.output.dense"},               \
      {"layers.*.attn.branch_scale", LAYER(base) "layer_scale1.lambda1"},      \
      {"layers.*.ffn.in_norm", LAYER(base) "norm2"},                           \
      {"layers.*.ffn.in", LAYER(base) "mlp.fc1"},                              \
      {"layers.*.ffn.in", LAYER(base) "mlp.weights_in"},                       \
      {"layers.*.ffn.out", LAYER(base) "mlp.fc2"},                             \
      {"layers.*.ffn.out", LAYER(base) "mlp.weights_out"},                     \
      {"layers.*.ffn.branch_scale", LAYER(base) "layer_scale2.lambda1"},       \
      {"final_norm", base "layernorm"}, {"classifier", "classifier"}

static constexpr TensorName tensors[] = {TENSORS("dinov2.")};
static constexpr TensorName tensorsWithRegisters[] = {
    TENSORS("dinov2_with_registers."),
    {"registers", "dinov2_with_registers.embeddings.register_tokens"}};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.mask_token", "classifier.weight", "classifier.bias"};

static constexpr llvm::StringRef silentKeys[] = {
    "apply_layernorm",       "attention_probs_dropout_prob",
    "drop_path_rate",        "hidden_dropout_prob",
    "interpolate_antialias", "interpolate_offset",
    "layerscale_value",      "out_features",
    "out_indices",           "reshape_hidden_states",
    "stage_names",           "use_mask_token"};

// The class stores positions as a square.
static void checkSquare(Config &config, const Image &image) {
  if (image.ownHeight.value != image.ownWidth.value)
    config.error("image_size",
                 "image_size is [" + Twine(image.ownHeight.value) + ", " +
                     Twine(image.ownWidth.value) +
                     "] but positions are learned for a square: both must be "
                     "the same");
}

static FeedForward feedForward(Config &config, const Extent &hidden) {
  const double ratio = config.positive("mlp_ratio", 4);
  const bool gated = config.flag("use_swiglu_ffn", false);
  Extent size = hidden;
  size.key = "hidden_size * mlp_ratio";
  size.value = std::max<int64_t>(1, int64_t(double(hidden.value) * ratio));
  FeedForward f = imageFeedForward(config, size, "gelu");
  if (gated) { // 2/3 of it, rounded up to 8
    f.size.value = (size.value * 2 / 3 + 7) / 8 * 8;
    f.act = Activation::silu;
    f.gated = true;
    f.layout = GateLayout::concat;
  }
  return f;
}

static void describeWith(Config &config, ModelSpec &model, int64_t patchSize,
                         int64_t registers) {
  model.layers = config.extent("num_hidden_layers", 12, 1 << 16);
  model.hidden = config.extent("hidden_size", 768);
  model.image = readImage(config, 224, patchSize);
  model.image->leading = {{"class", {1, "the CLS token", {}}}};
  if (registers && config.integer("num_register_tokens", registers) != 0)
    model.image->leading.push_back(
        {"registers", config.extent("num_register_tokens", registers, 1 << 16),
         /*placed=*/false});
  model.image->positions = true;
  model.image->resize =
      registers ? Resize::bicubic_antialiased : Resize::bicubic;
  checkSquare(config, *model.image);
  Norm norm{NormKind::layer_norm, config.positive("layer_norm_eps", 1e-6),
            Affine::weight, true, config.at("layer_norm_eps")};
  model.finalNorm = norm;
  model.lastStateNormed = false;

  Attention a = imageAttention(config, model.hidden, 12);
  a.qBias = a.kBias = a.vBias = config.flag("qkv_bias", true);
  model.units = preNormUnits(a, feedForward(config, model.hidden), norm);
  scaleBranches(model.units, 1, config.at("layerscale_value"));

  Pooling pooling;
  pooling.dense = false;
  model.pooling = pooling;
  Extent labels = readLabels(config);
  if (llvm::StringRef(config.architecture)
          .ends_with("ForImageClassification")) {
    Reading first, mean;
    mean.kind = Pool::mean;
    mean.skip = model.image->leadingTokens();
    model.classifier = Classifier{labels, {first, mean}, true};
  }
}

static void describe(Config &config, ModelSpec &model) {
  describeWith(config, model, 14, 0);
}
static void describeWithRegisters(Config &config, ModelSpec &model) {
  describeWith(config, model, 16, 4);
}

const Family mille::import::dinov2{"dinov2",     architectures, "dinov2.",
                                   tensors,      otherTensors,  silentKeys,
                                   Scheme::bert, describe};
const Family mille::import::dinov2WithRegisters{"dinov2_with_registers",
                                                withRegisters,
                                                "dinov2_with_registers.",
                                                tensorsWithRegisters,
                                                otherTensors,
                                                silentKeys,
                                                Scheme::bert,
                                                describeWithRegisters};
