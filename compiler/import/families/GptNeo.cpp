// GPT-Neo: pre-norm, learned positions, scores without 1/sqrt(d), global and
// local layers in turn.
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"GPTNeoModel",
                                                    "GPTNeoForCausalLM"};

#define LAYER "transformer.h.*."
static constexpr TensorName tensors[] = {
    {"embed", "transformer.wte"},
    {"position", "transformer.wpe"},
    {"layers.*.attn.in_norm", LAYER "ln_1"},
    {"layers.*.attn.q", LAYER "attn.attention.q_proj"},
    {"layers.*.attn.k", LAYER "attn.attention.k_proj"},
    {"layers.*.attn.v", LAYER "attn.attention.v_proj"},
    {"layers.*.attn.o", LAYER "attn.attention.out_proj"},
    {"layers.*.ffn.in_norm", LAYER "ln_2"},
    {"layers.*.ffn.in", LAYER "mlp.c_fc"},
    {"layers.*.ffn.out", LAYER "mlp.c_proj"},
    {"final_norm", "transformer.ln_f"}};

static constexpr llvm::StringRef silentKeys[] = {
    "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
    "summary_type", "summary_use_proj"};

static constexpr llvm::StringRef otherTensors[] = {
    "h.*.attn.attention.bias", "h.*.attn.attention.masked_bias"};

// Whether each layer is local: by attention_layers, a word for each layer, else
// by attention_types, [[["global", "local"], 12]]: the list, that many times.
static std::vector<bool> localLayers(Config &config, ModelSpec &model) {
  std::vector<std::string> words;
  const json::Value *layers = config.list("attention_layers");
  const json::Value *types = config.list("attention_types");
  if (layers)
    for (const json::Value &kind : layers->items)
      words.push_back(kind.text);
  else if (types)
    for (const json::Value &type : types->items) {
      bool pair = type.items.size() == 2 &&
                  type.items[0].kind == json::Kind::array &&
                  type.items[1].whole && type.items[1].integer <= 1 << 16;
      for (int64_t i = 0; pair && i < type.items[1].integer; ++i)
        for (const json::Value &kind : type.items[0].items)
          words.push_back(kind.text);
    }
  else
    for (int64_t layer = 0; layer < model.layers.value; ++layer)
      words.push_back(layer % 2 ? "local" : "global");
  const llvm::StringRef key = layers ? "attention_layers" : "attention_types";
  if (int64_t(words.size()) != model.layers.value)
    config
        .error(key, key + " gives " + llvm::Twine(words.size()) +
                        " layers but num_layers is " +
                        llvm::Twine(model.layers.value))
        .note(model.layers.at, "num_layers is given here");
  words.resize(model.layers.value, "global");
  std::vector<bool> local;
  for (const std::string &word : words) {
    local.push_back(word == "local");
    if (word != "local" && word != "global") {
      config.error(key, key + " has \"" + word +
                            "\" but Mille knows \"global\" and \"local\"");
      break;
    }
  }
  local.resize(model.layers.value);
  return local;
}

static void describe(Config &config, ModelSpec &model) {
  DecoderKeys keys;
  keys.headDim = ""; // hidden_size / heads, whatever
  keys.layers = "num_layers";
  keys.heads = "num_heads";
  keys.act = "activation_function";
  Decoder d(config, model, {24, 2048, 50257, 16, 0, 0, 0, 1e-6}, "gelu_new",
            keys);
  d.layerNorm(config.positive("layer_norm_epsilon", 1e-5));
  model.positions = config.extent("max_position_embeddings", 2048);
  d.a.scale = 1;
  d.biases(false, false, false, true);
  d.f.gated = false;
  d.feedForwardBiases(true);
  int64_t window = config.extent("window_size", 256).value;
  std::vector<bool> local = localLayers(config, model);
  for (auto [layer, attention] : llvm::enumerate(d.attentions()))
    attention.left = local[layer] ? window : 0;
  d.preNorm();
  d.head(true);
}

const Family mille::import::gptNeo =
    decoderFamily("gpt_neo", architectures, tensors, silentKeys, describe,
                  "transformer.", otherTensors);
