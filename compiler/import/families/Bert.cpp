// BERT: post-norm, learned positions, token types; pooler, masked-language head
// or a task's. Also MiniLM and everything else that says model_type "bert".
#include "compiler/import/families/BertKeys.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "BertModel", "BertForMaskedLM", "BertForPreTraining", TASKS("Bert")};

static constexpr TensorName tensors[] = {
    {"embed", "bert.embeddings.word_embeddings"},
    {"position", "bert.embeddings.position_embeddings"},
    {"token_type", "bert.embeddings.token_type_embeddings"},
    {"embed_norm", "bert.embeddings.LayerNorm"},
    BERT_LAYER_TENSORS("bert.encoder.layer.*."),
    {"pooler", "bert.pooler.dense"},
    {"head_transform", "cls.predictions.transform.dense"},
    {"head_transform.norm", "cls.predictions.transform.LayerNorm"},
    {"head.weight", "cls.predictions.decoder.weight"},
    {"head.bias", "cls.predictions.decoder.bias"},
    {"head.bias", "cls.predictions.bias"},
    {"classifier_transform", "bert.pooler.dense"},
    TASK_TENSORS,
    {"classifier", "cls.seq_relationship"}};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.position_ids",
    "embeddings.token_type_ids",
    "pooler.dense.weight",
    "pooler.dense.bias",
    "cls.seq_relationship.weight",
    "cls.seq_relationship.bias",
    "cls.predictions.decoder.weight",
    "cls.predictions.decoder.bias",
    "cls.predictions.bias",
    "cls.predictions.transform.dense.weight",
    "cls.predictions.transform.dense.bias",
    "cls.predictions.transform.LayerNorm.weight",
    "cls.predictions.transform.LayerNorm.bias",
    "cls.predictions.transform.LayerNorm.gamma",
    "cls.predictions.transform.LayerNorm.beta"};

static constexpr llvm::StringRef silentKeys[] = {"attention_probs_dropout_prob",
                                                 "hidden_dropout_prob",
                                                 "classifier_dropout",
                                                 "directionality",
                                                 "pooler_fc_size",
                                                 "pooler_num_attention_heads",
                                                 "pooler_num_fc_layers",
                                                 "pooler_size_per_head",
                                                 "pooler_type"};

static void describe(Config &config, ModelSpec &model) {
  BertParts parts = readBert(config, model,
                             {12, 768, 12, 3072, 30522, 512, 2, "gelu", 1e-12});
  model.embedNorm = parts.norm;
  model.units = postNormUnits(parts.attention, parts.feedForward, parts.norm);
  if (readTask(config, model, {Activation::tanh}))
    return;
  if (config.architecture.empty() || config.architecture == "BertModel")
    return readPooler(config, model, "bert.pooler.dense.weight");
  addMaskedHead(config, model, parts.feedForward.act, parts.norm);
  if (config.architecture == "BertForPreTraining")
    addPairHead(config, model, "cls.seq_relationship.weight",
                "seq_relationship_logits",
                {2, "the order of two texts", config.at("architectures")});
}

const Family mille::import::bert{"bert",       architectures, "bert.",
                                 tensors,      otherTensors,  silentKeys,
                                 Scheme::bert, describe};
