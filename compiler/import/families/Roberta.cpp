// RoBERTa and XLM-RoBERTa: BERT's layers, positions counted over the tokens
// that are no padding, a head of its own names.
#include "compiler/import/families/BertKeys.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "RobertaModel", "RobertaForMaskedLM", TASKS("Roberta")};
static constexpr llvm::StringRef xlmArchitectures[] = {
    "XLMRobertaModel", "XLMRobertaForMaskedLM", TASKS("XLMRoberta")};

static constexpr TensorName tensors[] = {
    {"embed", "roberta.embeddings.word_embeddings"},
    {"position", "roberta.embeddings.position_embeddings"},
    {"token_type", "roberta.embeddings.token_type_embeddings"},
    {"embed_norm", "roberta.embeddings.LayerNorm"},
    BERT_LAYER_TENSORS("roberta.encoder.layer.*."),
    {"pooler", "roberta.pooler.dense"},
    {"head_transform", "lm_head.dense"},
    {"head_transform.norm", "lm_head.layer_norm"},
    {"head.weight", "lm_head.decoder.weight"},
    {"head.bias", "lm_head.decoder.bias"},
    {"head.bias", "lm_head.bias"},
    {"classifier_transform", "classifier.dense"},
    TASK_TENSORS};

static constexpr llvm::StringRef otherTensors[] = {"embeddings.position_ids",
                                                   "embeddings.token_type_ids",
                                                   "pooler.dense.weight",
                                                   "pooler.dense.bias",
                                                   "lm_head.dense.weight",
                                                   "lm_head.dense.bias",
                                                   "lm_head.layer_norm.weight",
                                                   "lm_head.layer_norm.bias",
                                                   "lm_head.decoder.weight",
                                                   "lm_head.decoder.bias",
                                                   "lm_head.bias"};

static void describeWith(Config &config, ModelSpec &model, int64_t vocab) {
  BertParts parts = readBert(config, model,
                             {12, 768, 12, 3072, vocab, 512, 2, "gelu", 1e-12});
  countPositions(config, model, 1);
  model.embedNorm = parts.norm;
  model.units = postNormUnits(parts.attention, parts.feedForward, parts.norm);
  if (readTask(config, model, {Activation::tanh}))
    return;
  if (llvm::StringRef(config.architecture).ends_with("ForMaskedLM"))
    addMaskedHead(config, model, Activation::gelu_erf, parts.norm);
  else
    readPooler(config, model, "roberta.pooler.dense.weight");
}

static void describe(Config &config, ModelSpec &model) {
  describeWith(config, model, 50265);
}
static void describeXlm(Config &config, ModelSpec &model) {
  describeWith(config, model, 30522);
}

const Family mille::import::roberta{"roberta",    architectures, "roberta.",
                                    tensors,      otherTensors,  bertSilentKeys,
                                    Scheme::bert, describe};
const Family mille::import::xlmRoberta{
    "xlm-roberta", xlmArchitectures, "roberta.",   tensors,
    otherTensors,  bertSilentKeys,   Scheme::bert, describeXlm};
