// XLM-RoBERTa-XL: RoBERTa with the norms before the branches, none after the
// embedding, and one after the stack.
#include "compiler/import/families/BertKeys.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "XLMRobertaXLModel", "XLMRobertaXLForMaskedLM", TASKS("XLMRobertaXL")};

#define LAYER "roberta.encoder.layer.*."
static constexpr TensorName tensors[] = {
    {"embed", "roberta.embeddings.word_embeddings"},
    {"position", "roberta.embeddings.position_embeddings"},
    {"token_type", "roberta.embeddings.token_type_embeddings"},
    {"layers.*.attn.in_norm", LAYER "attention.self_attn_layer_norm"},
    {"layers.*.attn.q", LAYER "attention.self.query"},
    {"layers.*.attn.k", LAYER "attention.self.key"},
    {"layers.*.attn.v", LAYER "attention.self.value"},
    {"layers.*.attn.o", LAYER "attention.output.dense"},
    {"layers.*.ffn.in_norm", LAYER "LayerNorm"},
    {"layers.*.ffn.in", LAYER "intermediate.dense"},
    {"layers.*.ffn.out", LAYER "output.dense"},
    {"final_norm", "roberta.encoder.LayerNorm"},
    {"pooler", "roberta.pooler.dense"},
    {"head_transform", "lm_head.dense"},
    {"head_transform.norm", "lm_head.layer_norm"},
    {"head.weight", "lm_head.decoder.weight"},
    {"head.bias", "lm_head.decoder.bias"},
    {"head.bias", "lm_head.bias"},
    {"classifier_transform", "classifier.dense"},
    TASK_TENSORS};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.position_ids", "embeddings.token_type_ids",
    "pooler.dense.weight",     "pooler.dense.bias",
    "lm_head.decoder.weight",  "lm_head.decoder.bias"};

static void describe(Config &config, ModelSpec &model) {
  BertParts parts = readBert(
      config, model, {36, 2560, 32, 10240, 250880, 514, 1, "gelu", 1e-5});
  countPositions(config, model, 1);
  model.finalNorm = parts.norm;
  model.units = preNormUnits(parts.attention, parts.feedForward, parts.norm);
  if (readTask(config, model, {Activation::tanh}))
    return;
  if (config.architecture == "XLMRobertaXLForMaskedLM")
    addMaskedHead(config, model, Activation::gelu_erf, parts.norm);
  else
    readPooler(config, model, "roberta.pooler.dense.weight");
}

const Family mille::import::xlmRobertaXl{
    "xlm-roberta-xl", architectures,  "roberta.",   tensors,
    otherTensors,     bertSilentKeys, Scheme::bert, describe};
