// Reads what most decoders' configs say under the same keys. Must not name a
// family.
#include "compiler/import/families/Decoder.h"
#include "compiler/import/Rope.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

#define LAYER "model.layers.*."
llvm::ArrayRef<TensorName> mille::import::usualTensors() {
  static constexpr TensorName names[] = {
      {"embed", "model.embed_tokens"},
      {"layers.*.attn.in_norm", LAYER "input_layernorm"},
      {"layers.*.block.in_norm", LAYER "input_layernorm"},
      {"layers.*.attn.q", LAYER "self_attn.q_proj"},
      {"layers.*.attn.k", LAYER "self_attn.k_proj"},
      {"layers.*.attn.v", LAYER "self_attn.v_proj"},
      {"layers.*.attn.o", LAYER "self_attn.o_proj"},
      {"layers.*.attn.q_norm", LAYER "self_attn.q_norm"},
      {"layers.*.attn.k_norm", LAYER "self_attn.k_norm"},
      {"layers.*.attn.q_a", LAYER "self_attn.q_a_proj"},
      {"layers.*.attn.q_a_norm", LAYER "self_attn.q_a_layernorm"},
      {"layers.*.attn.q", LAYER "self_attn.q_b_proj"},
      {"layers.*.attn.kv_a", LAYER "self_attn.kv_a_proj_with_mqa"},
      {"layers.*.attn.kv_a_norm", LAYER "self_attn.kv_a_layernorm"},
      {"layers.*.attn.kv_b", LAYER "self_attn.kv_b_proj"},
      {"layers.*.ffn.in_norm", LAYER "post_attention_layernorm"},
      {"layers.*.ffn.gate", LAYER "mlp.gate_proj"},
      {"layers.*.ffn.in", LAYER "mlp.up_proj"},
      {"layers.*.ffn.out", LAYER "mlp.down_proj"},
      {"layers.*.ffn.router", LAYER "mlp.gate"},
      {"layers.*.ffn.experts.gate", LAYER "mlp.experts.%.gate_proj"},
      {"layers.*.ffn.experts.in", LAYER "mlp.experts.%.up_proj"},
      {"layers.*.ffn.experts.out", LAYER "mlp.experts.%.down_proj"},
      {"layers.*.ffn.shared.gate", LAYER "mlp.shared_experts.gate_proj"},
      {"layers.*.ffn.shared.in", LAYER "mlp.shared_experts.up_proj"},
      {"layers.*.ffn.shared.out", LAYER "mlp.shared_experts.down_proj"},
      {"final_norm", "model.norm"},
      {"head", "lm_head"}};
  return names;
}

Family mille::import::decoderFamily(StringRef modelType,
                                    llvm::ArrayRef<StringRef> architectures,
                                    llvm::ArrayRef<TensorName> tensors,
                                    llvm::ArrayRef<StringRef> silentKeys,
                                    void (*describe)(Config &, ModelSpec &),
                                    StringRef prefix,
                                    llvm::ArrayRef<StringRef> otherTensors) {
  return {modelType,  architectures, prefix,   tensors, otherTensors,
          silentKeys, Scheme::llama, describe, false,   usualTensors()};
}

Decoder::Decoder(Config &config, ModelSpec &model, const DecoderSizes &usual,
                 StringRef act, const DecoderKeys &keys)
    : config(config), model(model) {
  constexpr int64_t most = 1 << 16;
  model.layers = config.extent(keys.layers, usual.layers, most);
  model.hidden = config.extent(keys.hidden, usual.hidden);
  model.vocab = config.extent("vocab_size", usual.vocab);
  norm = {NormKind::rms_norm, config.positive(keys.eps, usual.eps),
          Affine::weight, false, config.at(keys.eps)};
  a.heads = config.extent(keys.heads, usual.heads, most);
  // null: a key head for each query head, and a width shared out by heads.
  auto isNull = [&](StringRef key) {
    return config.given(key) && !config.has(key);
  };
  bool alike = !usual.kvHeads || isNull(keys.kvHeads);
  a.kvHeads =
      config.extent(keys.kvHeads, alike ? a.heads.value : usual.kvHeads, most);
  checkHeads(a, config.problems);
  a.headDim = a.valueDim =
      config.has(keys.headDim) || (usual.headDim && !isNull(keys.headDim))
          ? config.extent(keys.headDim, usual.headDim, most)
          : config.dividedHead(model.hidden, a.heads);
  a.mask = Mask::causal;
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  f.size = config.extent(keys.size,
                         usual.size ? usual.size : 4 * model.hidden.value);
  f.act = config.activation(keys.act, act);
  f.gated = true;
}

void Decoder::layerNorm(double eps, bool bias) {
  norm.kind = NormKind::layer_norm;
  norm.eps = eps;
  norm.bias = bias;
}

void Decoder::biases(bool q, bool k, bool v, bool o) {
  a.qBias = q;
  a.kBias = k;
  a.vBias = v;
  a.oBias = o;
}

void Decoder::normHeads(NormGroup group, bool afterRope) {
  a.qkNorm = {norm, group};
  a.normAfterRope = afterRope;
}

int64_t Decoder::window(StringRef key, int64_t absent) {
  if (const json::Value *value = config.take(key);
      value && value->whole && value->integer == 0)
    return 0;
  bool given = config.given(key);
  if (given && !config.has(key)) // null: no window
    return 0;
  return given ? config.extent(key).value : absent;
}

std::vector<std::string>
Decoder::layerTypes(llvm::ArrayRef<StringRef> known,
                    llvm::function_ref<StringRef(int64_t)> usual) {
  return config.layerTypes(model.layers, known, usual);
}

void Decoder::askedWindows(llvm::function_ref<bool(int64_t, int64_t)> usual) {
  int64_t width = window("sliding_window", 4096);
  if (!config.flag("use_sliding_window", false))
    width = 0;
  const int64_t most = config.integer("max_window_layers", 28);
  slidingLayers(width,
                [&](int64_t layer) { return width && usual(layer, most); });
}

void Decoder::slidingLayers(int64_t window,
                            llvm::function_ref<bool(int64_t)> usual) {
  kinds = layerTypes(
      {"full_attention", "sliding_attention"}, [&](int64_t layer) -> StringRef {
        return usual(layer) ? "sliding_attention" : "full_attention";
      });
  for (auto [layer, attention] : llvm::enumerate(attentions()))
    if (slides(layer))
      attention.left = window;
  if (!window && llvm::is_contained(kinds, "sliding_attention"))
    config.error("layer_types", "layer_types has \"sliding_attention\" but the "
                                "config has no sliding window");
}

std::vector<bool> Decoder::ropeLayers() {
  std::vector<int64_t> listed = config.integers("no_rope_layers");
  const int64_t layers = model.layers.value;
  int64_t interval = config.extent("no_rope_layer_interval", 4).value;
  if (!listed.empty() && int64_t(listed.size()) < layers)
    config
        .error("no_rope_layers", "no_rope_layers has " + Twine(listed.size()) +
                                     " entries but " + model.layers.key +
                                     " is " + Twine(layers))
        .note(model.layers.at, model.layers.key + " is given here");
  std::vector<bool> turns;
  for (int64_t layer = 0; layer < layers; ++layer)
    turns.push_back(layer < int64_t(listed.size())
                        ? listed[layer] != 0
                        : (layer + 1) % interval != 0);
  return turns;
}

void Decoder::ropeOrYarn(const RopeKeys &keys, const YarnSizes &usual) {
  rope(keys);
  StringRef key;
  if (config.ropeObject(key))
    return;
  const double theta = config.positive(keys.thetaKey, keys.theta);
  scaleYarn(a.rope->frequencies, theta, usual.factor, usual.trained, 32, 1,
            usual.truncated);
  a.rope->attentionFactor = usual.magnitude;
}

RopeKeys Decoder::interleaved() const {
  RopeKeys keys;
  keys.pairing = Pairing::interleaved;
  return keys;
}

void Decoder::lowRank(const Ranks &usual, double eps) {
  Latent l;
  if (!config.given("q_lora_rank") || config.has("q_lora_rank"))
    l.queryRank = config.extent("q_lora_rank", usual.query);
  l.rank = config.extent("kv_lora_rank", usual.keys);
  l.nope = config.extent("qk_nope_head_dim", usual.nope, 1 << 16);
  l.rope = config.extent("qk_rope_head_dim", usual.rope, 1 << 16);
  a.valueDim = config.extent("v_head_dim", usual.value, 1 << 16);
  a.headDim = l.nope;
  a.headDim.value += l.rope.value;
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  if (a.kvHeads.value != a.heads.value)
    config
        .error(a.kvHeads.key, a.kvHeads.key + " is " + Twine(a.kvHeads.value) +
                                  " but " + a.heads.key + " is " +
                                  Twine(a.heads.value) +
                                  ": low-rank keys have a head for each query")
        .note(a.heads.at, a.heads.key + " is given here");
  l.queryNorm = l.norm = norm;
  l.queryNorm.eps = l.norm.eps = eps;
  l.queryBias = l.bias = config.flag("attention_bias", false);
  a.latent = l;
}

void Decoder::stretchScores() {
  StringRef key;
  const json::Value *object = config.ropeObject(key);
  if (!object)
    return;
  Fields scaling = config.inside(*object, key);
  StringRef typeKey = scaling.has("rope_type") ? "rope_type" : "type";
  double weight = scaling.number("mscale_all_dim", 0);
  if (scaling.text(typeKey, "default") == "default" || weight == 0)
    return;
  double magnitude = yarnMagnitude(scaling.positive("factor"), weight);
  a.scale *= magnitude * magnitude;
}

void Decoder::groups(Experts &e, StringRef key, StringRef topKey, int64_t count,
                     int64_t top) {
  Extent groups = config.extent(key, count, 1 << 16);
  Extent chosen = config.extent(topKey, top, 1 << 16);
  e.groups = groups.value;
  e.topGroups = chosen.value;
  if (e.count.value % e.groups)
    config
        .error(key, key + " is " + Twine(e.groups) + " but must divide " +
                        e.count.key + ", which is " + Twine(e.count.value))
        .note(e.count.at, e.count.key + " is given here");
  else if (e.topGroups > e.groups ||
           e.count.value / e.groups * e.topGroups < e.chosen.value)
    config
        .error(topKey, topKey + " is " + Twine(e.topGroups) + " of " +
                           Twine(e.groups) + " groups but " + e.chosen.key +
                           ", " + Twine(e.chosen.value) +
                           ", experts must be in them")
        .note(e.chosen.at, e.chosen.key + " is given here");
}

void Decoder::expertsAfter(FeedForward dense, Experts e, StringRef key,
                           int64_t denseLayers, const ExpertSizes &usual,
                           StringRef sharedKey) {
  denseLayers = config.integer(key, denseLayers);
  FeedForward sparse = dense;
  sparse.size = config.extent("moe_intermediate_size", usual.size);
  int64_t shared =
      config.given(sharedKey) ? config.integer(sharedKey, 0) : usual.shared;
  if (shared > 0 && shared <= 1 << 16) {
    e.sharedSize = sparse.size;
    e.sharedSize.value *= shared;
  }
  sparse.experts = e;
  f = sparse;
  for (auto [layer, feedForward] : llvm::enumerate(feedForwards()))
    if (int64_t(layer) < denseLayers)
      feedForward = dense;
}

void Decoder::denseAmong(const FeedForward &dense) {
  std::vector<int64_t> named = config.integers("mlp_only_layers");
  int64_t step = config.extent("decoder_sparse_step", 1).value;
  for (auto [layer, feedForward] : llvm::enumerate(feedForwards()))
    if (llvm::is_contained(named, int64_t(layer)) || (layer + 1) % step)
      feedForward = dense;
}

std::vector<Attention> &Decoder::attentions() {
  if (eachAttention.empty())
    eachAttention.assign(model.layers.value, a);
  return eachAttention;
}

std::vector<FeedForward> &Decoder::feedForwards() {
  if (eachFeedForward.empty())
    eachFeedForward.assign(model.layers.value, f);
  return eachFeedForward;
}

PerLayer<Attention> Decoder::attention() {
  PerLayer<Attention> all(a);
  if (!eachAttention.empty())
    all.all = eachAttention;
  return all;
}

PerLayer<FeedForward> Decoder::feedForward() {
  PerLayer<FeedForward> all(f);
  if (!eachFeedForward.empty())
    all.all = eachFeedForward;
  return all;
}

void Decoder::units(bool in, bool branch, bool out) {
  Unit attn, ffn;
  attn.name = "attn";
  ffn.name = "ffn";
  for (Unit *unit : {&attn, &ffn}) {
    if (in)
      unit->inNorm = norm;
    if (branch)
      unit->branchNorm = norm;
    if (out)
      unit->outNorm = norm;
  }
  attn.at = a.heads.at;
  ffn.at = f.size.at;
  attn.branches = {Branch{"attn", attention(), {}, attn.at}};
  ffn.branches = {Branch{"ffn", {}, feedForward(), ffn.at}};
  model.units = {attn, ffn};
}

void Decoder::parallel(bool sharedNorm) {
  Unit block;
  block.name = "block";
  block.inNorm = norm;
  block.sharedInNorm = sharedNorm;
  block.at = a.heads.at;
  block.branches = {Branch{"attn", attention(), {}, a.heads.at},
                    Branch{"ffn", {}, feedForward(), f.size.at}};
  model.units = {block};
}

void Decoder::branchScale(double factor) {
  Scale scale;
  scale.value = factor;
  if (factor != 1)
    for (Unit &unit : model.units)
      unit.branchScale = scale;
}

void Decoder::head(bool tied, bool bias, double scale, double softcap) {
  model.finalNorm = norm;
  tied = config.flag("tie_word_embeddings", tied);
  if (StringRef(config.architecture).ends_with("ForCausalLM") ||
      StringRef(config.architecture).ends_with("LMHeadModel"))
    model.head = Head{tied, bias, scale, softcap, {}, config.at("vocab_size")};
}

void Decoder::balance() {
  constexpr StringRef key = "router_aux_loss_coef";
  const double factor = config.number(key, 0.001);
  if (factor < 0)
    config.error(key, key + " is " + formatDouble(factor) +
                          " but must be at least 0");
  else if (factor > 0 && config.flag("output_router_logits", false))
    model.training.emplace().balance = factor;
}

Experts mille::import::expertsOf(Config &config, StringRef countKey,
                                 int64_t count, int64_t chosen) {
  Experts e;
  e.count = config.extent(countKey, count, 1 << 16);
  e.chosen = config.extent("num_experts_per_tok", chosen, 1 << 16);
  if (e.chosen.value > e.count.value)
    config
        .error("num_experts_per_tok",
               "num_experts_per_tok is " + Twine(e.chosen.value) + " but " +
                   e.count.key + " is " + Twine(e.count.value))
        .note(e.count.at, e.count.key + " is given here");
  return e;
}
