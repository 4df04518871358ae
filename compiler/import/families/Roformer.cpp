// RoFormer: BERT's layers with interleaved RoPE, on the values too if it says
// so, and an embedding of its own width.
#include "compiler/import/Rope.h"
#include "compiler/import/families/BertKeys.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "RoFormerModel", "RoFormerForMaskedLM", TASKS("RoFormer")};

static constexpr TensorName tensors[] = {
    {"embed", "roformer.embeddings.word_embeddings"},
    {"token_type", "roformer.embeddings.token_type_embeddings"},
    {"embed_norm", "roformer.embeddings.LayerNorm"},
    {"embed_project", "roformer.embeddings_project"},
    BERT_LAYER_TENSORS("roformer.encoder.layer.*."),
    {"head_transform", "cls.predictions.transform.dense"},
    {"head_transform.norm", "cls.predictions.transform.LayerNorm"},
    {"head.weight", "cls.predictions.decoder.weight"},
    {"head.bias", "cls.predictions.decoder.bias"},
    {"head.bias", "cls.predictions.bias"},
    {"classifier_transform", "classifier.dense"},
    TASK_TENSORS};

// The rotation's sines and cosines follow from the config.
static constexpr llvm::StringRef otherTensors[] = {
    "encoder.embed_positions.weight",
    "cls.predictions.decoder.weight",
    "cls.predictions.decoder.bias",
    "cls.predictions.bias",
    "cls.predictions.transform.dense.weight",
    "cls.predictions.transform.dense.bias",
    "cls.predictions.transform.LayerNorm.weight",
    "cls.predictions.transform.LayerNorm.bias"};

static constexpr llvm::StringRef silentKeys[] = {"attention_probs_dropout_prob",
                                                 "hidden_dropout_prob",
                                                 "classifier_dropout",
                                                 "max_position_embeddings",
                                                 "directionality",
                                                 "pooler_fc_size",
                                                 "pooler_num_attention_heads",
                                                 "pooler_num_fc_layers",
                                                 "pooler_size_per_head",
                                                 "pooler_type"};

static void describe(Config &config, ModelSpec &model) {
  BertParts parts =
      readBert(config, model, {12, 768, 12, 3072, 50000, 0, 2, "gelu", 1e-12});
  model.embedNorm = parts.norm;
  Extent width = config.extent("embedding_size", model.hidden.value);
  if (width.value != model.hidden.value)
    model.words = {width, true};
  Attention &a = parts.attention;
  a.rope.emplace();
  a.rope->pairing = Pairing::interleaved;
  a.rope->frequencies = ropeFrequencies(10000, a.headDim.value);
  if (a.headDim.value % 2)
    config.error("num_attention_heads",
                 "RoPE turns the " + llvm::Twine(a.headDim.value) +
                     " dimensions of a head, but must turn an even number of "
                     "them");
  a.rotateValue = config.flag("rotary_value", false);
  model.units = postNormUnits(a, parts.feedForward, parts.norm);
  if (readTask(config, model, {parts.feedForward.act}))
    return;
  if (config.architecture == "RoFormerForMaskedLM")
    addMaskedHead(config, model, parts.feedForward.act, parts.norm, width);
}

const Family mille::import::roformer{"roformer",   architectures, "roformer.",
                                     tensors,      otherTensors,  silentKeys,
                                     Scheme::bert, describe};
