// DeBERTa V2 and V3: BERT's placement, and scores between contents and bucketed
// distances in both directions.
#include "compiler/import/DistanceBuckets.h"
#include "compiler/import/families/BertKeys.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

static constexpr StringRef architectures[] = {
    "DebertaV2Model", "DebertaV2ForMaskedLM", TASKS("DebertaV2")};

#define LAYER "deberta.encoder.layer.*."
static constexpr TensorName tensors[] = {
    {"embed", "deberta.embeddings.word_embeddings"},
    {"position", "deberta.embeddings.position_embeddings"},
    {"token_type", "deberta.embeddings.token_type_embeddings"},
    {"embed_norm", "deberta.embeddings.LayerNorm"},
    {"embed_project", "deberta.embeddings.embed_proj"},
    {"relative", "deberta.encoder.rel_embeddings"},
    {"relative_norm", "deberta.encoder.LayerNorm"},
    {"layers.*.conv", "deberta.encoder.conv.conv"},
    {"layers.*.conv.out_norm", "deberta.encoder.conv.LayerNorm"},
    {"layers.*.attn.q", LAYER "attention.self.query_proj"},
    {"layers.*.attn.k", LAYER "attention.self.key_proj"},
    {"layers.*.attn.v", LAYER "attention.self.value_proj"},
    {"layers.*.attn.o", LAYER "attention.output.dense"},
    {"layers.*.attn.distance_q", LAYER "attention.self.pos_query_proj"},
    {"layers.*.attn.distance_k", LAYER "attention.self.pos_key_proj"},
    {"layers.*.attn.out_norm", LAYER "attention.output.LayerNorm"},
    {"layers.*.ffn.in", LAYER "intermediate.dense"},
    {"layers.*.ffn.out", LAYER "output.dense"},
    {"layers.*.ffn.out_norm", LAYER "output.LayerNorm"},
    {"head_transform", "cls.predictions.transform.dense"},
    {"head_transform", "lm_predictions.lm_head.dense"},
    {"head_transform.norm", "cls.predictions.transform.LayerNorm"},
    {"head_transform.norm", "lm_predictions.lm_head.LayerNorm"},
    {"head.weight", "cls.predictions.decoder.weight"},
    {"head.bias", "cls.predictions.decoder.bias"},
    {"head.bias", "cls.predictions.bias"},
    {"head.bias", "lm_predictions.lm_head.bias"},
    {"classifier_transform", "pooler.dense"},
    TASK_TENSORS};

static constexpr StringRef otherTensors[] = {
    "embeddings.position_ids",
    "embeddings.position_embeddings.weight",
    "cls.predictions.decoder.weight",
    "cls.predictions.decoder.bias",
    "cls.predictions.bias",
    "cls.predictions.transform.dense.weight",
    "cls.predictions.transform.dense.bias",
    "cls.predictions.transform.LayerNorm.weight",
    "cls.predictions.transform.LayerNorm.bias",
    "lm_predictions.lm_head.bias",
    "lm_predictions.lm_head.dense.weight",
    "lm_predictions.lm_head.dense.bias",
    "lm_predictions.lm_head.LayerNorm.weight",
    "lm_predictions.lm_head.LayerNorm.bias",
    "mask_predictions.classifier.weight",
    "mask_predictions.classifier.bias",
    "mask_predictions.dense.weight",
    "mask_predictions.dense.bias",
    "mask_predictions.LayerNorm.weight",
    "mask_predictions.LayerNorm.bias",
    "pooler.dense.weight",
    "pooler.dense.bias"};

static constexpr StringRef silentKeys[] = {"attention_probs_dropout_prob",
                                           "hidden_dropout_prob",
                                           "conv_act",
                                           "conv_groups",
                                           "max_position_embeddings",
                                           "pooler_dropout",
                                           "pooler_hidden_size",
                                           "summary_type",
                                           "summary_use_proj"};

// Which of the two directions.
static void readDirections(Config &config, ContentTable &table) {
  for (const std::string &word : config.words("pos_att_type")) {
    if (word == "c2p")
      table.ofQuery = true;
    else if (word == "p2c")
      table.ofKey = true;
    else
      config.error("pos_att_type", "pos_att_type has \"" + word +
                                       "\" but Mille does only \"c2p\" and "
                                       "\"p2c\"");
  }
}

static std::optional<ContentTable> readTable(Config &config, Attention &a,
                                             double eps) {
  ContentTable table;
  readDirections(config, table);
  a.scale = 1 / std::sqrt(double(a.headDim.value) *
                          (1 + table.ofQuery + table.ofKey));
  table.factor = a.scale;
  const bool relative = config.flag("relative_attention", false);
  int64_t most = config.integer("max_relative_positions", -1);
  if (most < 1)
    most = config.extent("max_position_embeddings", 512).value;
  const int64_t buckets = config.integer("position_buckets", -1);
  table.ownProjections = !config.flag("share_att_key", false);
  std::string norm = config.text("norm_rel_ebd", "none");
  if (StringRef(norm).contains("layer_norm"))
    table.norm = {NormKind::layer_norm, eps, Affine::weight, true,
                  config.at("norm_rel_ebd")};
  else if (norm != "none")
    config.error("norm_rel_ebd", "norm_rel_ebd is \"" + norm +
                                     "\" but Mille does only \"none\" and "
                                     "\"layer_norm\"");
  if (!relative || (!table.ofQuery && !table.ofKey))
    return std::nullopt;
  const int64_t span = buckets > 0 ? buckets : most;
  if (span > 1 << 20 ||
      (buckets > 0 && (buckets < 4 || most - 1 <= buckets / 2))) {
    config.error(buckets > 0 ? "position_buckets" : "max_relative_positions",
                 "position_buckets is " + Twine(buckets) +
                     " and positions are " + Twine(most) +
                     " but buckets are 4 or more, half of them "
                     "fewer than positions, of which there are at most " +
                     Twine(1 << 20));
    return std::nullopt;
  }
  table.entries = {2 * span,
                   buckets > 0 ? "2 * position_buckets"
                               : "2 * max_relative_positions",
                   config.at("position_buckets")};
  table.rows = contentRows(span, buckets, most);
  return table;
}

// After the first layer, act(a convolution of its input) is added.
static void addConvolution(Config &config, ModelSpec &model,
                           const Attention &attention, const Norm &norm) {
  const int64_t taps = config.integer("conv_kernel_size", 0);
  if (taps == 0)
    return;
  config.mustBe("conv_groups", {"1"});
  // An even one has fewer outs than tokens, of which the model makes no sense.
  if (taps < 0 || taps % 2 == 0 || taps > 63) {
    config.error("conv_kernel_size", "conv_kernel_size is " + Twine(taps) +
                                         " but must be 0 or an odd number "
                                         "from 1 to 63");
    return;
  }
  Convolution convolution{taps, attention.heads,
                          config.activation("conv_act", "tanh")};
  if (model.hidden.value % convolution.heads.value)
    convolution.heads.value = 1;
  Unit unit;
  unit.name = "conv";
  unit.outNorm = norm;
  unit.at = config.at("conv_kernel_size");
  Branch branch;
  branch.name = "conv";
  branch.convolution = convolution;
  branch.at = unit.at;
  unit.branches.push_back(std::move(branch));
  model.layerUnits.assign(model.layers.value, model.units);
  model.layerUnits.front().push_back(std::move(unit));
}

static void describe(Config &config, ModelSpec &model) {
  BertParts parts =
      readBert(config, model, {24, 1536, 24, 6144, 128100, 0, 0, "gelu", 1e-7});
  if (config.flag("position_biased_input", true))
    model.positions = config.extent("max_position_embeddings", 512);
  model.embedNorm = parts.norm;
  Extent width = config.extent("embedding_size", model.hidden.value);
  if (width.value != model.hidden.value) {
    model.words = {width, false};
    model.projectedAt = ProjectedAt::sum;
  }
  config.mustBe("z_steps", {"0"});
  Attention &a = parts.attention;
  if (config.has("attention_head_size"))
    a.headDim = a.valueDim = config.extent("attention_head_size", {}, 1 << 16);
  a.content = readTable(config, a, parts.norm.eps);
  model.units = postNormUnits(a, parts.feedForward, parts.norm);
  addConvolution(config, model, a, parts.norm);
  const bool legacy = config.flag("legacy", true);
  if (readTask(config, model,
               {config.activation("pooler_hidden_act", "gelu")}) ||
      config.architecture != "DebertaV2ForMaskedLM")
    return;
  addMaskedHead(config, model, parts.feedForward.act, parts.norm, width);
  model.head->tied |= !legacy; // the newer head has no table of its own
}

const Family mille::import::debertaV2{"deberta-v2", architectures, "deberta.",
                                      tensors,      otherTensors,  silentKeys,
                                      Scheme::bert, describe};
