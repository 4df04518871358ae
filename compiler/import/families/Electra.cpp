// ELECTRA: BERT's layers, an embedding of its own width, and two heads: the
// generator's masked-language head, the discriminator's one number per token.
#include "compiler/import/families/BertKeys.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "ElectraModel", "ElectraForMaskedLM", "ElectraForPreTraining",
    TASKS("Electra")};

static constexpr TensorName tensors[] = {
    {"embed", "electra.embeddings.word_embeddings"},
    {"position", "electra.embeddings.position_embeddings"},
    {"token_type", "electra.embeddings.token_type_embeddings"},
    {"embed_norm", "electra.embeddings.LayerNorm"},
    {"embed_project", "electra.embeddings_project"},
    BERT_LAYER_TENSORS("electra.encoder.layer.*."),
    // The heads, by what they share: only one of each pair is in a file.
    {"head_transform", "generator_predictions.dense"},
    {"head_transform", "discriminator_predictions.dense"},
    {"head_transform.norm", "generator_predictions.LayerNorm"},
    {"head.weight", "generator_lm_head.weight"},
    {"head.weight", "discriminator_predictions.dense_prediction.weight"},
    {"head.bias", "generator_lm_head.bias"},
    {"head.bias", "discriminator_predictions.dense_prediction.bias"},
    {"classifier_transform", "classifier.dense"},
    TASK_TENSORS};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.position_ids",
    "embeddings.token_type_ids",
    "generator_predictions.LayerNorm.weight",
    "generator_predictions.LayerNorm.bias",
    "generator_predictions.dense.weight",
    "generator_predictions.dense.bias",
    "generator_lm_head.weight",
    "generator_lm_head.bias",
    "discriminator_predictions.dense.weight",
    "discriminator_predictions.dense.bias",
    "discriminator_predictions.dense_prediction.weight",
    "discriminator_predictions.dense_prediction.bias"};

static constexpr llvm::StringRef silentKeys[] = {"attention_probs_dropout_prob",
                                                 "hidden_dropout_prob",
                                                 "classifier_dropout",
                                                 "summary_activation",
                                                 "summary_last_dropout",
                                                 "summary_type",
                                                 "summary_use_proj"};

static void describe(Config &config, ModelSpec &model) {
  BertParts parts =
      readBert(config, model, {12, 256, 4, 1024, 30522, 512, 2, "gelu", 1e-12});
  model.embedNorm = parts.norm;
  Extent width = config.extent("embedding_size", 128);
  if (width.value != model.hidden.value)
    model.words = {width, true};
  model.units = postNormUnits(parts.attention, parts.feedForward, parts.norm);
  if (readTask(config, model, {Activation::gelu_erf}))
    return;
  if (config.architecture == "ElectraForMaskedLM")
    addMaskedHead(config, model, Activation::gelu_erf, parts.norm, width);
  if (config.architecture != "ElectraForPreTraining")
    return;
  Head head;
  head.bias = true;
  head.transform = HeadTransform{parts.feedForward.act, Norm{}};
  head.at = config.at("architectures");
  head.outputs = {1, "", head.at};
  head.oneNumber = true;
  model.head = head;
}

const Family mille::import::electra{"electra",    architectures, "electra.",
                                    tensors,      otherTensors,  silentKeys,
                                    Scheme::bert, describe};
