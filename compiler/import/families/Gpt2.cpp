// GPT-2: pre-norm decoder, learned positions, weights stored [in, out] and
// query, key and value in one matrix.
#include "compiler/import/families/Families.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;

static constexpr llvm::StringRef architectures[] = {"GPT2Model",
                                                    "GPT2LMHeadModel"};

#define LAYER "transformer.h.*."
static constexpr TensorName tensors[] = {
    {"embed", "transformer.wte"},
    {"position", "transformer.wpe"},
    {"layers.*.attn.in_norm", LAYER "ln_1"},
    {"layers.*.attn.q", LAYER "attn.c_attn", true, 0, 3},
    {"layers.*.attn.k", LAYER "attn.c_attn", true, 1, 3},
    {"layers.*.attn.v", LAYER "attn.c_attn", true, 2, 3},
    {"layers.*.attn.o", LAYER "attn.c_proj", true},
    {"layers.*.ffn.in_norm", LAYER "ln_2"},
    {"layers.*.ffn.in", LAYER "mlp.c_fc", true},
    {"layers.*.ffn.out", LAYER "mlp.c_proj", true},
    {"final_norm", "transformer.ln_f"},
    {"head.weight", "lm_head.weight"}};

static constexpr llvm::StringRef otherTensors[] = {
    "h.*.attn.bias", "h.*.attn.masked_bias", "lm_head.weight"};

static constexpr llvm::StringRef silentKeys[] = {"attn_pdrop",
                                                 "embd_pdrop",
                                                 "resid_pdrop",
                                                 "n_ctx",
                                                 "reorder_and_upcast_attn",
                                                 "summary_activation",
                                                 "summary_first_dropout",
                                                 "summary_proj_to_labels",
                                                 "summary_type",
                                                 "summary_use_proj"};

static void describe(Config &config, ModelSpec &model) {
  model.layers = config.extent("n_layer", 12, 1 << 16);
  model.hidden = config.extent("n_embd", 768);
  model.vocab = config.extent("vocab_size", 50257);
  model.positions = config.extent("n_positions", 1024);
  Norm norm{NormKind::layer_norm, config.positive("layer_norm_epsilon", 1e-5),
            Affine::weight, true, config.at("layer_norm_epsilon")};
  model.finalNorm = norm;

  Attention a;
  a.heads = a.kvHeads = config.extent("n_head", 12, 1 << 16);
  a.headDim = a.valueDim = config.dividedHead(model.hidden, a.heads);
  a.mask = Mask::causal;
  if (config.flag("scale_attn_weights", true))
    a.scale = 1 / std::sqrt(double(a.headDim.value));
  a.divideByLayer = config.flag("scale_attn_by_inverse_layer_idx", false);
  a.qBias = a.kBias = a.vBias = a.oBias = true;
  FeedForward f;
  f.size = config.extent("n_inner", 4 * model.hidden.value);
  f.act = config.activation("activation_function", "gelu_new");
  f.inBias = f.outBias = true;
  model.units = preNormUnits(a, f, norm);

  bool tied = config.flag("tie_word_embeddings", true);
  if (config.architecture == "GPT2LMHeadModel")
    model.head = Head{tied, false, 1, 0, std::nullopt, config.at("vocab_size")};
}

const Family mille::import::gpt2{"gpt2",       architectures, "transformer.",
                                 tensors,      otherTensors,  silentKeys,
                                 Scheme::gpt2, describe};
