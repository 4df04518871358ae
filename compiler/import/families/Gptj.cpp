// GPT-J: attention and feed-forward in parallel behind one norm, interleaved
// RoPE on the first dimensions of a head, a bias on the logits.
#include "compiler/import/Rope.h"
#include "compiler/import/families/Decoder.h"

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"GPTJModel",
                                                    "GPTJForCausalLM"};

#define LAYER "transformer.h.*."
static constexpr TensorName tensors[] = {
    {"embed", "transformer.wte"},
    {"layers.*.block.in_norm", LAYER "ln_1"},
    {"layers.*.attn.q", LAYER "attn.q_proj"},
    {"layers.*.attn.k", LAYER "attn.k_proj"},
    {"layers.*.attn.v", LAYER "attn.v_proj"},
    {"layers.*.attn.o", LAYER "attn.out_proj"},
    {"layers.*.ffn.in", LAYER "mlp.fc_in"},
    {"layers.*.ffn.out", LAYER "mlp.fc_out"},
    {"final_norm", "transformer.ln_f"}};

static constexpr llvm::StringRef silentKeys[] = {"n_positions",
                                                 "n_ctx",
                                                 "rotary",
                                                 "scale_attn_weights",
                                                 "summary_activation",
                                                 "summary_first_dropout",
                                                 "summary_proj_to_labels",
                                                 "summary_type",
                                                 "summary_use_proj"};

static constexpr llvm::StringRef otherTensors[] = {"h.*.attn.bias",
                                                   "h.*.attn.masked_bias"};

static void describe(Config &config, ModelSpec &model) {
  DecoderKeys keys;
  keys.headDim = ""; // hidden_size / heads, whatever
  keys.layers = config.either("n_layer", "num_hidden_layers");
  keys.hidden = config.either("n_embd", "hidden_size");
  keys.heads = config.either("n_head", "num_attention_heads");
  keys.size = "n_inner";
  keys.act = "activation_function";
  Decoder d(config, model, {28, 4096, 50400, 16, 0, 0, 0, 1e-6}, "gelu_new",
            keys);
  d.layerNorm(config.positive("layer_norm_epsilon", 1e-5));
  Extent rotary = config.extent("rotary_dim", 64);
  if (rotary.value % 2 || rotary.value > d.a.headDim.value)
    config.error("rotary_dim", "rotary_dim is " + llvm::Twine(rotary.value) +
                                   " but must be even and at most " +
                                   llvm::Twine(d.a.headDim.value) +
                                   ", the dimensions of a head");
  d.a.rope =
      Rope{ropeFrequencies(10000, rotary.value), Pairing::interleaved, 1, {}};
  d.f.gated = false;
  d.feedForwardBiases(true);
  d.parallel(true);
  d.head(false, true);
}

const Family mille::import::gptj =
    decoderFamily("gptj", architectures, tensors, silentKeys, describe,
                  "transformer.", otherTensors);
