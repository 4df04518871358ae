// ViT: pre-norm, a CLS token, learned positions, classifier on CLS or pooler.
#include "compiler/import/ConfigImage.h"
#include "compiler/import/families/Families.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "ViTModel", "ViTForImageClassification"};

#define LAYER "vit.encoder.layer.*."
static constexpr TensorName tensors[] = {
    {"class", "vit.embeddings.cls_token"},
    {"position.weight", "vit.embeddings.position_embeddings"},
    {"patch", "vit.embeddings.patch_embeddings.projection"},
    {"layers.*.attn.in_norm", LAYER "layernorm_before"},
    {"layers.*.attn.q", LAYER "attention.attention.query"},
    {"layers.*.attn.k", LAYER "attention.attention.key"},
    {"layers.*.attn.v", LAYER "attention.attention.value"},
    {"layers.*.attn.o", LAYER "attention.output.dense"},
    {"layers.*.ffn.in_norm", LAYER "layernorm_after"},
    {"layers.*.ffn.in", LAYER "intermediate.dense"},
    {"layers.*.ffn.out", LAYER "output.dense"},
    {"final_norm", "vit.layernorm"},
    {"pooler", "vit.pooler.dense"},
    {"classifier", "classifier"}};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.mask_token", "pooler.dense.weight", "pooler.dense.bias",
    "classifier.weight", "classifier.bias"};

static constexpr llvm::StringRef silentKeys[] = {
    "attention_probs_dropout_prob", "encoder_stride", "hidden_dropout_prob"};

static void describe(Config &config, ModelSpec &model) {
  model.layers = config.extent("num_hidden_layers", 12, 1 << 16);
  model.hidden = config.extent("hidden_size", 768);
  model.image = readImage(config, 224, 16);
  model.image->leading = {{"class", {1, "the CLS token", {}}}};
  model.image->positions = true;
  Norm norm{NormKind::layer_norm, config.positive("layer_norm_eps", 1e-12),
            Affine::weight, true, config.at("layer_norm_eps")};
  model.finalNorm = norm;
  model.lastStateNormed = false;

  Attention a = imageAttention(config, model.hidden, 12);
  a.qBias = a.kBias = a.vBias = config.flag("qkv_bias", true);
  FeedForward f = imageFeedForward(
      config, config.extent("intermediate_size", 3072), "gelu");
  model.units = preNormUnits(a, f, norm);

  Pooling pooling;
  pooling.width = config.extent("pooler_output_size", model.hidden.value);
  pooling.act = config.activation("pooler_act", "tanh");
  Extent labels = readLabels(config);
  if (config.architecture == "ViTForImageClassification")
    model.classifier = Classifier{labels, {Reading{}}};
  else if (config.holds("vit.pooler.dense.weight", "pooler.dense.weight"))
    model.pooling = pooling;
}

const Family mille::import::vit{"vit",     architectures, "vit.",
                                tensors,   otherTensors,  silentKeys,
                                Scheme::bert, describe};
