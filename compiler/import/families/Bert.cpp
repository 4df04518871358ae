// BERT: post-norm, learned positions, token types, pooler or masked-language head.
// Also MiniLM and everything else that says model_type "bert".
#include "compiler/import/families/Families.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {
    "BertModel", "BertForMaskedLM", "BertForPreTraining"};

#define LAYER "bert.encoder.layer.*."
static constexpr TensorName tensors[] = {
    {"embed", "bert.embeddings.word_embeddings"},
    {"position", "bert.embeddings.position_embeddings"},
    {"token_type", "bert.embeddings.token_type_embeddings"},
    {"embed_norm", "bert.embeddings.LayerNorm"},
    {"layers.*.attn.q", LAYER "attention.self.query"},
    {"layers.*.attn.k", LAYER "attention.self.key"},
    {"layers.*.attn.v", LAYER "attention.self.value"},
    {"layers.*.attn.o", LAYER "attention.output.dense"},
    {"layers.*.attn.out_norm", LAYER "attention.output.LayerNorm"},
    {"layers.*.ffn.in", LAYER "intermediate.dense"},
    {"layers.*.ffn.out", LAYER "output.dense"},
    {"layers.*.ffn.out_norm", LAYER "output.LayerNorm"},
    {"pooler", "bert.pooler.dense"},
    {"head_transform", "cls.predictions.transform.dense"},
    {"head_transform.norm", "cls.predictions.transform.LayerNorm"},
    {"head.weight", "cls.predictions.decoder.weight"},
    {"head.bias", "cls.predictions.decoder.bias"},
    {"head.bias", "cls.predictions.bias"}};

static constexpr llvm::StringRef otherTensors[] = {
    "embeddings.position_ids", "embeddings.token_type_ids",
    "pooler.dense.weight", "pooler.dense.bias",
    "cls.seq_relationship.weight", "cls.seq_relationship.bias",
    "cls.predictions.decoder.weight", "cls.predictions.decoder.bias",
    "cls.predictions.bias", "cls.predictions.transform.dense.weight",
    "cls.predictions.transform.dense.bias",
    "cls.predictions.transform.LayerNorm.weight",
    "cls.predictions.transform.LayerNorm.bias",
    "cls.predictions.transform.LayerNorm.gamma",
    "cls.predictions.transform.LayerNorm.beta"};

static constexpr llvm::StringRef silentKeys[] = {
    "attention_probs_dropout_prob", "hidden_dropout_prob", "classifier_dropout",
    "directionality", "pooler_fc_size", "pooler_num_attention_heads",
    "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"};

static void describe(Config &config, ModelSpec &model) {
  model.layers = config.extent("num_hidden_layers", 12, 1 << 16);
  model.hidden = config.extent("hidden_size", 768);
  model.vocab = config.extent("vocab_size", 30522);
  model.positions = config.extent("max_position_embeddings", 512);
  model.tokenTypes = config.extent("type_vocab_size", 2);
  config.mustBe("position_embedding_type", {"\"absolute\""});
  config.mustBe("is_decoder", {"false"});
  Norm norm{NormKind::layer_norm, config.positive("layer_norm_eps", 1e-12),
            Affine::weight, true, config.at("layer_norm_eps")};
  model.embedNorm = norm;

  Attention a;
  a.heads = a.kvHeads = config.extent("num_attention_heads", 12, 1 << 16);
  a.headDim = a.valueDim = config.dividedHead(model.hidden, a.heads);
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  a.qBias = a.kBias = a.vBias = a.oBias = true;
  FeedForward f;
  f.size = config.extent("intermediate_size", 3072);
  f.act = config.activation("hidden_act", "gelu");
  f.inBias = f.outBias = true;
  model.units = postNormUnits(a, f, norm);

  bool masked = config.architecture == "BertForMaskedLM";
  if (!masked && config.holds("bert.pooler.dense.weight",
                              "pooler.dense.weight"))
    model.pooling = Pooling{};
  bool tied = config.flag("tie_word_embeddings", true);
  if (!config.architecture.empty() && config.architecture != "BertModel")
    model.head = Head{tied, true, 1, 0, HeadTransform{f.act, norm},
                      config.at("vocab_size")};
}

const Family mille::import::bert{"bert",     architectures, "bert.",
                                 tensors,    otherTensors,  silentKeys,
                                 Scheme::bert, describe};
