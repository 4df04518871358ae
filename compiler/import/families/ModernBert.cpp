// ModernBERT: norms before the branches (none before the first attention), RoPE
// with a theta of its own for local layers, one fused gate and up.
#include "compiler/import/Rope.h"
#include "compiler/import/families/Families.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

static constexpr StringRef architectures[] = {"ModernBertModel",
                                              "ModernBertForMaskedLM"};

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
    {"head", "decoder"}};

static constexpr StringRef otherTensors[] = {
    "decoder.weight", "decoder.bias", "head.dense.weight", "head.dense.bias",
    "head.norm.weight", "head.norm.bias"};

static constexpr StringRef silentKeys[] = {
    "attention_dropout", "classifier_dropout", "classifier_pooling",
    "deterministic_flash_attn", "embedding_dropout", "initializer_cutoff_factor",
    "layer_norm_eps", "max_position_embeddings", "mlp_dropout",
    "position_embedding_type", "reference_compile", "repad_logits_with_grad",
    "sparse_pred_ignore_index", "sparse_prediction"};

// true: a layer sees every token.
static std::vector<bool> globalLayers(Config &config, int64_t layers) {
  const int64_t every =
      config.extent("global_attn_every_n_layers", 3, 1 << 16).value;
  std::vector<bool> global;
  for (int64_t layer = 0; layer < layers; ++layer)
    global.push_back(layer % every == 0);
  const json::Value *types = config.list("layer_types");
  if (!types)
    return global;
  if (int64_t(types->items.size()) != layers) {
    config.error("layer_types", "layer_types has " +
                                    Twine(types->items.size()) +
                                    " entries but num_hidden_layers is " +
                                    Twine(layers));
    return global;
  }
  for (int64_t layer = 0; layer < layers; ++layer) {
    const json::Value &type = types->items[layer];
    global[layer] = type.text == "full_attention";
    if (!global[layer] && type.text != "sliding_attention")
      config.problems.error(config.at(type),
                            "layer_types has " + type.describe() +
                                " but must have \"full_attention\" or "
                                "\"sliding_attention\"");
  }
  return global;
}

// Keys of transformers 4 are flat, those of 5 have an object for each kind.
static Rope readRope(Config &config, const Extent &headDim, StringRef kind,
                     StringRef flatKey, double usual) {
  double theta = config.positive(flatKey, usual);
  if (config.object("rope_parameters")) {
    Config kinds(config, "rope_parameters");
    if (kinds.object(kind)) {
      Config one(kinds, kind);
      theta = one.positive("rope_theta", theta);
      one.mustBe("rope_type", {"\"default\""});
      one.noteRest();
    }
  }
  if (headDim.value % 2)
    config.error(flatKey, "RoPE turns the " + Twine(headDim.value) +
                              " dimensions of a head, but must turn an even "
                              "number of them");
  Rope rope;
  rope.frequencies = ropeFrequencies(theta, headDim.value);
  return rope;
}

static Attention readAttention(Config &config, const ModelSpec &model) {
  Attention a;
  a.heads = a.kvHeads = config.extent("num_attention_heads", 12, 1 << 16);
  a.headDim = a.valueDim = config.dividedHead(model.hidden, a.heads);
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  a.qBias = a.kBias = a.vBias = a.oBias = config.flag("attention_bias", false);
  return a;
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
  config.mustBe("rope_scaling", {"null"});
  const int64_t window = config.extent("local_attention", 128).value;
  local.left = local.right = window / 2 + 1; // either side, and the token
  PerLayer<Attention> attention;
  for (bool all : globalLayers(config, model.layers.value))
    attention.all.push_back(all ? global : local);

  FeedForward f;
  f.size = config.extent("intermediate_size", 1152);
  f.act = config.activation("hidden_activation", "gelu");
  f.gated = true;
  f.layout = GateLayout::concat;
  f.inBias = f.outBias = config.flag("mlp_bias", false);
  model.units = preNormUnits(attention, f, norm);
  model.units[0].inNorm.all.assign(model.layers.value, norm);
  model.units[0].inNorm.all[0] = Norm{};

  Activation act = config.activation("classifier_activation", "gelu");
  bool headBias = config.flag("classifier_bias", false);
  bool bias = config.flag("decoder_bias", true);
  bool tied = config.flag("tie_word_embeddings", true);
  if (config.architecture == "ModernBertForMaskedLM")
    model.head = Head{tied, bias, 1, 0, HeadTransform{act, norm, {}, headBias},
                      config.at("vocab_size")};
}

const Family mille::import::modernBert{
    "modernbert", architectures, "model.",     tensors,
    otherTensors, silentKeys,    Scheme::bert, describe};
