// MiniMax: the skip is taken behind the norm and scaled (DeepNorm), linear
// attention with decay on some layers, experts.
#include "compiler/import/families/Decoder.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"MiniMaxModel",
                                                    "MiniMaxForCausalLM"};

#define LAYER "model.layers.*."
static constexpr TensorName tensors[] = {
    {"layers.*.attn.qkv", LAYER "self_attn.qkv_proj"},
    {"layers.*.attn.inner_norm", LAYER "self_attn.norm"},
    {"layers.*.attn.gate", LAYER "self_attn.output_gate"},
    {"layers.*.attn.o", LAYER "self_attn.o_proj"},
    {"layers.*.attn.o", LAYER "self_attn.out_proj"},
    {"layers.*.ffn.router", LAYER "block_sparse_moe.gate"},
    {"layers.*.ffn.experts.gate", LAYER "block_sparse_moe.experts.%.w1"},
    {"layers.*.ffn.experts.in", LAYER "block_sparse_moe.experts.%.w3"},
    {"layers.*.ffn.experts.out", LAYER "block_sparse_moe.experts.%.w2"}};

static constexpr llvm::StringRef silentKeys[] = {"block_size"};

static constexpr llvm::StringRef otherTensors[] = {
    "layers.*.self_attn.slope_rate", "layers.*.self_attn.query_decay",
    "layers.*.self_attn.key_decay", "layers.*.self_attn.diagonal_decay"};

// Lightning attention: activated queries, keys and values, a decay for each
// head that is faster in early layers.
static Attention lightning(const Decoder &d, int64_t layer) {
  Attention a = d.a;
  const double heads = double(a.heads.value);
  a.kvHeads = a.heads;
  a.scale = 1;
  a.rope.reset();
  a.left = 0;
  a.layout = QkvLayout::grouped;
  a.qkvAct = d.f.act;
  a.innerNorm.norm = d.norm;
  a.innerNorm.norm.eps = 1e-6; // the class's own, whatever the config says
  a.outputGate = Activation::sigmoid;
  const double depth =
      double(layer) / (double(d.model.layers.value) - 1 + 1e-5);
  for (int64_t h = 1; h <= a.heads.value; ++h)
    a.decay.push_back(std::exp2(-8 * double(h) / heads) * (1 - depth + 1e-5));
  return a;
}

static Scale factorOf(Config &config, llvm::StringRef key) {
  Scale scale;
  scale.value = config.number(key, 1);
  scale.at = config.at(key);
  return scale;
}

static void describe(Config &config, ModelSpec &model) {
  Decoder d(config, model, {32, 4096, 32000, 32, 8, 0, 14336, 1e-5});
  RopeKeys rope;
  rope.theta = 1e6;
  d.rope(rope);
  d.a.left = d.window("sliding_window");
  d.f.experts = expertsOf(config, "num_local_experts", 8, 2);
  d.f.experts->renormalised = true;
  d.kinds = d.layerTypes({"full_attention", "linear_attention"}, [](int64_t l) {
    return (l + 1) % 2 ? "full_attention" : "linear_attention";
  });
  for (auto [layer, attention] : llvm::enumerate(d.attentions()))
    if (d.kinds[layer] == "linear_attention")
      attention = lightning(d, layer);
  d.balance();
  d.preNorm();
  Unit &attn = model.units[0], &ffn = model.units[1];
  attn.tap = ffn.tap = Tap::normed;
  Scale fullSkip = factorOf(config, "full_attn_alpha_factor"),
        fullBranch = factorOf(config, "full_attn_beta_factor"),
        linearSkip = factorOf(config, "linear_attn_alpha_factor"),
        linearBranch = factorOf(config, "linear_attn_beta_factor");
  for (const std::string &kind : d.kinds) {
    bool full = kind == "full_attention";
    attn.skipScale.all.push_back(full ? fullSkip : linearSkip);
    attn.branchScale.all.push_back(full ? fullBranch : linearBranch);
  }
  ffn.skipScale = factorOf(config, "mlp_alpha_factor");
  ffn.branchScale = factorOf(config, "mlp_beta_factor");
  d.head(false);
}

const Family mille::import::miniMax =
    decoderFamily("minimax", architectures, tensors, silentKeys, describe,
                  "model.", otherTensors);
