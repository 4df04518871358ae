// ALBERT: few sets of weights for many layers, a narrow embedding projected to
// the stream.
#include "compiler/import/families/BertKeys.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::Twine;

static constexpr llvm::StringRef architectures[] = {
    "AlbertModel", "AlbertForMaskedLM", "AlbertForPreTraining",
    TASKS("Albert")};

#define LAYER "albert.encoder.albert_layer_groups.*.albert_layers.*."
static constexpr TensorName tensors[] = {
    {"embed", "albert.embeddings.word_embeddings"},
    {"position", "albert.embeddings.position_embeddings"},
    {"token_type", "albert.embeddings.token_type_embeddings"},
    {"embed_norm", "albert.embeddings.LayerNorm"},
    {"embed_project", "albert.encoder.embedding_hidden_mapping_in"},
    {"groups.*.layers.*.attn.q", LAYER "attention.query"},
    {"groups.*.layers.*.attn.k", LAYER "attention.key"},
    {"groups.*.layers.*.attn.v", LAYER "attention.value"},
    {"groups.*.layers.*.attn.o", LAYER "attention.dense"},
    {"groups.*.layers.*.attn.out_norm", LAYER "attention.LayerNorm"},
    {"groups.*.layers.*.ffn.in", LAYER "ffn"},
    {"groups.*.layers.*.ffn.out", LAYER "ffn_output"},
    {"groups.*.layers.*.ffn.out_norm", LAYER "full_layer_layer_norm"},
    {"pooler", "albert.pooler"},
    {"head_transform", "predictions.dense"},
    {"head_transform.norm", "predictions.LayerNorm"},
    {"head.weight", "predictions.decoder.weight"},
    {"head.bias", "predictions.decoder.bias"},
    {"head.bias", "predictions.bias"},
    {"classifier_transform", "albert.pooler"},
    TASK_TENSORS,
    {"classifier", "sop_classifier.classifier"}};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.position_ids",
    "embeddings.token_type_ids",
    "pooler.weight",
    "pooler.bias",
    "predictions.dense.weight",
    "predictions.dense.bias",
    "predictions.LayerNorm.weight",
    "predictions.LayerNorm.bias",
    "predictions.decoder.weight",
    "predictions.decoder.bias",
    "predictions.bias",
    "sop_classifier.classifier.weight",
    "sop_classifier.classifier.bias"};

static constexpr llvm::StringRef silentKeys[] = {"attention_probs_dropout_prob",
                                                 "hidden_dropout_prob",
                                                 "classifier_dropout_prob",
                                                 "down_scale_factor",
                                                 "gap_size",
                                                 "net_structure_type",
                                                 "num_memory_blocks"};

// Each of num_hidden_layers steps runs all inner layers of its group.
static void shareLayers(Config &config, ModelSpec &model) {
  Extent groups = config.extent("num_hidden_groups", 1, 1 << 16);
  Extent inner = config.extent("inner_group_num", 1, 1 << 10);
  const int64_t steps = model.layers.value;
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t i = 0; i < inner.value; ++i)
      model.layerNames.push_back(("groups." +
                                  Twine(step * groups.value / steps) +
                                  ".layers." + Twine(i) + ".")
                                     .str());
  model.layers.value = steps * inner.value;
}

static void describe(Config &config, ModelSpec &model) {
  BertParts parts = readBert(
      config, model, {12, 4096, 64, 16384, 30000, 512, 2, "gelu_new", 1e-12});
  model.embedNorm = parts.norm;
  model.words = {config.extent("embedding_size", 128), true};
  model.units = postNormUnits(parts.attention, parts.feedForward, parts.norm);
  shareLayers(config, model);
  if (readTask(config, model, {Activation::tanh}))
    return;
  if (config.architecture.empty() || config.architecture == "AlbertModel")
    return readPooler(config, model, "albert.pooler.weight");
  addMaskedHead(config, model, parts.feedForward.act, parts.norm,
                model.words.width);
  if (config.architecture == "AlbertForPreTraining")
    addPairHead(config, model, "sop_classifier.classifier.weight", "sop_logits",
                readLabels(config));
}

const Family mille::import::albert{"albert",     architectures, "albert.",
                                   tensors,      otherTensors,  silentKeys,
                                   Scheme::bert, describe};
