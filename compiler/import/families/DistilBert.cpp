// DistilBERT: BERT's layers under other names; no token types, no pooler, eps
// 1e-12 whatever the config says.
#include "compiler/import/families/BertKeys.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "DistilBertModel", "DistilBertForMaskedLM", TASKS("DistilBert")};

#define LAYER "distilbert.transformer.layer.*."
static constexpr TensorName tensors[] = {
    {"embed", "distilbert.embeddings.word_embeddings"},
    {"position", "distilbert.embeddings.position_embeddings"},
    {"embed_norm", "distilbert.embeddings.LayerNorm"},
    {"layers.*.attn.q", LAYER "attention.q_lin"},
    {"layers.*.attn.k", LAYER "attention.k_lin"},
    {"layers.*.attn.v", LAYER "attention.v_lin"},
    {"layers.*.attn.o", LAYER "attention.out_lin"},
    {"layers.*.attn.out_norm", LAYER "sa_layer_norm"},
    {"layers.*.ffn.in", LAYER "ffn.lin1"},
    {"layers.*.ffn.out", LAYER "ffn.lin2"},
    {"layers.*.ffn.out_norm", LAYER "output_layer_norm"},
    {"head_transform", "vocab_transform"},
    {"head_transform.norm", "vocab_layer_norm"},
    {"head", "vocab_projector"},
    {"classifier_transform", "pre_classifier"},
    TASK_TENSORS};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.position_ids", "vocab_transform.weight",
    "vocab_transform.bias",    "vocab_layer_norm.weight",
    "vocab_layer_norm.bias",   "vocab_projector.weight",
    "vocab_projector.bias"};

// sinusoidal_pos_embds is about initial values: the table is stored either way.
static constexpr llvm::StringRef silentKeys[] = {"dropout",
                                                 "attention_dropout",
                                                 "qa_dropout",
                                                 "seq_classif_dropout",
                                                 "sinusoidal_pos_embds",
                                                 "tie_weights_"};

static void describe(Config &config, ModelSpec &model) {
  // The class also answers to the usual words.
  model.layers =
      config.extent(config.either("n_layers", "num_hidden_layers"), 6, 1 << 16);
  model.hidden = config.extent(config.either("dim", "hidden_size"), 768);
  model.vocab = config.extent("vocab_size", 30522);
  model.positions = config.extent("max_position_embeddings", 512);
  Norm norm{NormKind::layer_norm, 1e-12, Affine::weight, true,
            config.at("dim")};
  model.embedNorm = norm;

  Attention a;
  a.heads = a.kvHeads = config.extent(
      config.either("n_heads", "num_attention_heads"), 12, 1 << 16);
  a.headDim = a.valueDim = config.dividedHead(model.hidden, a.heads);
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  a.qBias = a.kBias = a.vBias = a.oBias = true;
  FeedForward f;
  f.size = config.extent("hidden_dim", 4 * 768);
  f.act = config.activation("activation", "gelu");
  f.inBias = f.outBias = true;
  model.units = postNormUnits(a, f, norm);
  if (readTask(config, model, {Activation::relu}))
    return;
  if (config.architecture == "DistilBertForMaskedLM")
    addMaskedHead(config, model, f.act, norm);
}

const Family mille::import::distilBert{
    "distilbert", architectures, "distilbert.", tensors,
    otherTensors, silentKeys,    Scheme::bert,  describe};
