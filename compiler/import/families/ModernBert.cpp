// ModernBERT: norms before the branches (none before the first attention), RoPE
// with a theta of its own for local layers, one fused gate and up.
#include "compiler/import/families/BertKeys.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

static constexpr StringRef architectures[] = {
    "ModernBertModel", "ModernBertForMaskedLM", TASKS("ModernBert")};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"embed", "model.embeddings.tok_embeddings"},
    {"embed_norm", "model.embeddings.norm"},
    {"layers.*.attn.in_norm", LAYER "attn_norm"},
    {"layers.*.attn.q", LAYER "attn.Wqkv", false, 0, 3},
    {"layers.*.attn.k", LAYER "attn.Wqkv", false, 1, 3},
    {"layers.*.attn.v", LAYER "attn.Wqkv", false, 2, 3},
    {"layers.*.attn.o", LAYER "attn.Wo"},
    {"layers.*.ffn.in_norm", LAYER "mlp_norm"},
    {"layers.*.ffn.in", LAYER "mlp.Wi"}, // the gate's half is the first
    {"layers.*.ffn.out", LAYER "mlp.Wo"},
    {"final_norm", "model.final_norm"},
    {"head_transform", "head.dense"},
    {"head_transform.norm", "head.norm"},
    {"head", "decoder"},
    {"classifier_transform", "head.dense"},
    {"classifier_transform.norm", "head.norm"},
    TASK_TENSORS};

static constexpr StringRef otherTensors[] = {
    "decoder.weight",  "decoder.bias",     "head.dense.weight",
    "head.dense.bias", "head.norm.weight", "head.norm.bias"};

static constexpr StringRef silentKeys[] = {
    "attention_dropout",         "classifier_dropout",
    "deterministic_flash_attn",  "embedding_dropout",
    "initializer_cutoff_factor", "layer_norm_eps",
    "max_position_embeddings",   "mlp_dropout",
    "position_embedding_type",   "reference_compile",
    "repad_logits_with_grad",    "sparse_pred_ignore_index",
    "sparse_prediction"};

// Keys of transformers 4 are flat, those of 5 have an object for each kind.
static Rope readRope(Config &config, const Extent &headDim, StringRef kind,
                     StringRef flatKey, double usual) {
  RopeKeys keys;
  // null: as the global layers turn.
  keys.theta = config.given(flatKey) && !config.has(flatKey)
                   ? config.positive("global_rope_theta", 160000)
                   : usual;
  keys.thetaKey = flatKey;
  keys.layerType = kind;
  return config.rope(headDim, keys);
}

static Attention readAttention(Config &config, const ModelSpec &model) {
  Attention a;
  a.heads = a.kvHeads = config.extent("num_attention_heads", 12, 1 << 16);
  a.headDim = a.valueDim = config.dividedHead(model.hidden, a.heads);
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  a.qBias = a.kBias = a.vBias = a.oBias = config.flag("attention_bias", false);
  return a;
}

// The masked-language head, or a task's behind the same dense, activation and
// norm.
static void readHead(Config &config, ModelSpec &model, const Norm &norm) {
  HeadTransform transform{config.activation("classifier_activation", "gelu"),
                          norm,
                          {},
                          config.flag("classifier_bias", false)};
  const bool bias = config.flag("decoder_bias", true);
  const bool tied = config.flag("tie_word_embeddings", true);
  const Pool pool = config.word("classifier_pooling", {"cls", "mean"}, 0)
                        ? Pool::mean
                        : Pool::first;
  if (readTask(config, model, transform, pool)) {
    if (model.head) // the others' too, token by token
      model.head->transform = transform;
  } else if (config.architecture == "ModernBertForMaskedLM") {
    model.head = Head{tied, bias, 1, 0, transform, config.at("vocab_size")};
  }
}

static void describe(Config &config, ModelSpec &model) {
  model.layers = config.extent("num_hidden_layers", 22, 1 << 16);
  model.hidden = config.extent("hidden_size", 768);
  model.vocab = config.extent("vocab_size", 50368);
  Norm norm{NormKind::layer_norm, config.positive("norm_eps", 1e-5),
            Affine::weight, config.flag("norm_bias", false),
            config.at("norm_eps")};
  model.embedNorm = model.finalNorm = norm;

  Attention local = readAttention(config, model), global = local;
  global.rope = readRope(config, global.headDim, "full_attention",
                         "global_rope_theta", 160000);
  local.rope = readRope(config, local.headDim, "sliding_attention",
                        "local_rope_theta", 10000);
  const int64_t window = config.extent("local_attention", 128).value;
  local.left = local.right = window / 2 + 1; // either side, and the token
  const int64_t every =
      config.extent("global_attn_every_n_layers", 3, 1 << 16).value;
  PerLayer<Attention> attention;
  for (StringRef kind : config.layerTypes(
           model.layers, {"full_attention", "sliding_attention"},
           [&](int64_t layer) -> StringRef {
             return layer % every ? "sliding_attention" : "full_attention";
           }))
    attention.all.push_back(kind == "full_attention" ? global : local);

  FeedForward f;
  f.size = config.extent("intermediate_size", 1152);
  f.act = config.activation("hidden_activation", "gelu");
  f.gated = true;
  f.layout = GateLayout::concat;
  f.inBias = f.outBias = config.flag("mlp_bias", false);
  model.units = preNormUnits(attention, f, norm);
  model.units[0].inNorm.all.assign(model.layers.value, norm);
  model.units[0].inNorm.all[0] = Norm{};
  readHead(config, model, norm);
}

const Family mille::import::modernBert{"modernbert", architectures, "model.",
                                       tensors,      otherTensors,  silentKeys,
                                       Scheme::bert, describe};
