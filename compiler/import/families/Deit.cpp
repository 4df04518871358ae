// DeiT: ViT with a distillation token; its classifier may be two, averaged.
#include "compiler/import/families/Families.h"
#include "compiler/import/families/VitKeys.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "DeiTModel", "DeiTForImageClassification",
    "DeiTForImageClassificationWithTeacher"};

static constexpr TensorName tensors[] = {
    VIT_TENSORS("deit."),
    {"distillation", "deit.embeddings.distillation_token"},
    {"class_classifier", "cls_classifier"},
    {"distillation_classifier", "distillation_classifier"}};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.mask_token",
    "pooler.dense.weight",
    "pooler.dense.bias",
    "classifier.weight",
    "classifier.bias",
    "cls_classifier.weight",
    "cls_classifier.bias",
    "distillation_classifier.weight",
    "distillation_classifier.bias"};

static constexpr llvm::StringRef silentKeys[] = {
    "attention_probs_dropout_prob", "encoder_stride", "hidden_dropout_prob"};

static void describe(Config &config, ModelSpec &model) {
  describeVitStack(config, model);
  model.image->leading.push_back(
      {"distillation", {1, "the distillation token", {}}});
  Pooling pooling = vitPooling(config, model);
  Extent labels = readLabels(config);
  if (config.architecture == "DeiTForImageClassification") {
    model.classifier = Classifier{labels, {Reading{}}};
  } else if (config.architecture == "DeiTForImageClassificationWithTeacher") {
    Reading first, second;
    first.name = "class_classifier";
    first.output = "cls_logits";
    second.skip = 1;
    second.name = "distillation_classifier";
    second.output = "distillation_logits";
    model.classifier = Classifier{labels, {first, second}, false, 0.5};
  } else if (config.holds("deit.pooler.dense.weight", "pooler.dense.weight")) {
    model.pooling = pooling;
  }
}

const Family mille::import::deit{"deit",       architectures, "deit.",
                                 tensors,      otherTensors,  silentKeys,
                                 Scheme::bert, describe};
