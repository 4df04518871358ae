// ViT: pre-norm, a CLS token, learned positions, classifier on CLS or pooler.
#include "compiler/import/families/Families.h"
#include "compiler/import/families/VitKeys.h"

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
  describeVitStack(config, model);
  Pooling pooling = vitPooling(config, model);
  Extent labels = readLabels(config);
  if (config.architecture == "ViTForImageClassification")
    model.classifier = Classifier{labels, {Reading{}}};
  else if (config.holds("vit.pooler.dense.weight", "pooler.dense.weight"))
    model.pooling = pooling;
}

const Family mille::import::vit{"vit",        architectures, "vit.",
                                tensors,      otherTensors,  silentKeys,
                                Scheme::bert, describe};
