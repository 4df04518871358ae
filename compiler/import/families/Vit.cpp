// ViT: pre-norm, a CLS token, learned positions, classifier on CLS or pooler.
#include "compiler/import/families/Families.h"
#include "compiler/import/families/VitKeys.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "ViTModel", "ViTForImageClassification"};

static constexpr TensorName tensors[] = {VIT_TENSORS("vit.")};

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
