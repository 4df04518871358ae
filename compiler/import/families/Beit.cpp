// BEiT: biases by pair of patches, of each layer or of all; LayerScale; the
// patches' mean, normed, or CLS.
#include "compiler/import/config/ConfigImage.h"
#include "compiler/import/families/Families.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "BeitModel", "BeitForImageClassification"};

#define LAYER "beit.encoder.layer.*."
static constexpr TensorName tensors[] = {
    {"class", "beit.embeddings.cls_token"},
    {"position.weight", "beit.embeddings.position_embeddings"},
    {"patch", "beit.embeddings.patch_embeddings.projection"},
    {"relative.weight",
     "beit.encoder.relative_position_bias.relative_position_bias_table"},
    {"layers.*.attn.in_norm", LAYER "layernorm_before"},
    {"layers.*.attn.q", LAYER "attention.attention.query"},
    {"layers.*.attn.k", LAYER "attention.attention.key"},
    {"layers.*.attn.v", LAYER "attention.attention.value"},
    {"layers.*.attn.o", LAYER "attention.output.dense"},
    {"layers.*.attn.relative.weight",
     LAYER "attention.attention.relative_position_bias."
           "relative_position_bias_table"},
    {"layers.*.attn.branch_scale", LAYER "lambda_1"},
    {"layers.*.ffn.in_norm", LAYER "layernorm_after"},
    {"layers.*.ffn.in", LAYER "intermediate.dense"},
    {"layers.*.ffn.out", LAYER "output.dense"},
    {"layers.*.ffn.branch_scale", LAYER "lambda_2"},
    {"final_norm", "beit.layernorm"},
    {"pool_norm", "beit.pooler.layernorm"},
    {"classifier", "classifier"}};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.mask_token",
    "classifier.weight",
    "classifier.bias",
    "encoder.relative_position_bias.relative_position_index",
    "encoder.layer.*.attention.attention.relative_position_bias."
    "relative_position_index",
    "pooler.layernorm.weight",
    "pooler.layernorm.bias"};

static constexpr llvm::StringRef silentKeys[] = {"add_fpn",
                                                 "attention_probs_dropout_prob",
                                                 "auxiliary_channels",
                                                 "auxiliary_concat_input",
                                                 "auxiliary_loss_weight",
                                                 "auxiliary_num_convs",
                                                 "drop_path_rate",
                                                 "hidden_dropout_prob",
                                                 "out_features",
                                                 "out_indices",
                                                 "pool_scales",
                                                 "reshape_hidden_states",
                                                 "semantic_loss_ignore_index",
                                                 "semantic_out_indices",
                                                 "stage_names",
                                                 "use_auxiliary_head",
                                                 "use_mask_token",
                                                 "vocab_size"};

static std::vector<PairBias> pairBiases(Config &config, const Image &image) {
  std::vector<PairBias> biases;
  const Grid grid = image.grid();
  for (bool shared : {false, true}) {
    if (!config.flag(shared ? "use_shared_relative_position_bias"
                            : "use_relative_position_bias",
                     false))
      continue;
    PairBias bias;
    bias.index = relativePairsBehindClass(grid);
    bias.entries = (2 * grid.height - 1) * (2 * grid.width - 1) + 3;
    bias.shared = shared;
    biases.push_back(bias);
  }
  // The class reads the table of a rectangle by height and width confused.
  if (!biases.empty() && grid.height != grid.width)
    config.error("image_size", image.height.key + " makes " +
                                   llvm::Twine(grid.height) + " x " +
                                   llvm::Twine(grid.width) +
                                   " patches but biases by their distance are "
                                   "done for squares only");
  return biases;
}

static void describe(Config &config, ModelSpec &model) {
  model.layers = config.extent("num_hidden_layers", 12, 1 << 16);
  model.hidden = config.extent("hidden_size", 768);
  model.image = readImage(config, 224, 16);
  model.image->leading = {{"class", {1, "the CLS token", {}}}};
  model.image->positions =
      config.flag("use_absolute_position_embeddings", false);
  model.image->resize = Resize::bicubic;
  Norm norm{NormKind::layer_norm, config.positive("layer_norm_eps", 1e-12),
            Affine::weight, true, config.at("layer_norm_eps")};
  const bool mean = config.flag("use_mean_pooling", true);
  if (!mean)
    model.finalNorm = norm;
  model.lastStateNormed = false;

  Attention a = imageAttention(config, model.hidden, 12);
  a.kBias = false;
  a.pairBiases = pairBiases(config, *model.image);
  FeedForward f = imageFeedForward(
      config, config.extent("intermediate_size", 3072), "gelu");
  model.units = preNormUnits(a, f, norm);
  const double init = config.number("layer_scale_init_value", 0.1);
  if (init > 0) // also where there are factors at all
    scaleBranches(model.units, init, config.at("layer_scale_init_value"));

  Pooling pooling;
  pooling.dense = false;
  if (mean) {
    pooling.kind = Pool::mean;
    pooling.skip = 1;
    pooling.norm = norm;
  }
  Extent labels = readLabels(config);
  const bool classifies = config.architecture == "BeitForImageClassification";
  if (classifies || !mean ||
      config.holds("beit.pooler.layernorm.weight", "pooler.layernorm.weight"))
    model.pooling = pooling;
  if (classifies) {
    Reading reading;
    reading.pooled = true;
    model.classifier = Classifier{labels, {reading}};
  }
}

const Family mille::import::beit{"beit",       architectures, "beit.",
                                 tensors,      otherTensors,  silentKeys,
                                 Scheme::bert, describe};
