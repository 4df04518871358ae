// Nomic BERT: BERT's placement with RoPE, a gated feed-forward and no biases;
// by the keys of transformers and by those of the checkpoints' own code.
#include "compiler/import/families/BertKeys.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

static constexpr StringRef architectures[] = {
    "NomicBertModel", "NomicBertForMaskedLM", TASKS("NomicBert")};

#define LAYER "nomic_bert.encoder.layers.*."
#define NEW_LAYER "nomic_bert.layers.*."
static constexpr TensorName tensors[] = {
    {"embed", "nomic_bert.embeddings.word_embeddings"},
    {"token_type", "nomic_bert.embeddings.token_type_embeddings"},
    {"embed_norm", "nomic_bert.emb_ln"},
    {"embed_norm", "nomic_bert.embeddings.LayerNorm"},
    {"layers.*.attn.q", LAYER "attn.Wqkv", false, 0, 3},
    {"layers.*.attn.k", LAYER "attn.Wqkv", false, 1, 3},
    {"layers.*.attn.v", LAYER "attn.Wqkv", false, 2, 3},
    {"layers.*.attn.q", NEW_LAYER "self_attn.q_proj"},
    {"layers.*.attn.k", NEW_LAYER "self_attn.k_proj"},
    {"layers.*.attn.v", NEW_LAYER "self_attn.v_proj"},
    {"layers.*.attn.o", LAYER "attn.out_proj"},
    {"layers.*.attn.o", NEW_LAYER "self_attn.o_proj"},
    {"layers.*.attn.out_norm", LAYER "norm1"},
    {"layers.*.attn.out_norm", NEW_LAYER "post_attention_layernorm"},
    {"layers.*.ffn.in", LAYER "mlp.fc11"},
    {"layers.*.ffn.in", NEW_LAYER "mlp.up_proj"},
    {"layers.*.ffn.gate", LAYER "mlp.fc12"},
    {"layers.*.ffn.gate", NEW_LAYER "mlp.gate_proj"},
    {"layers.*.ffn.out", LAYER "mlp.fc2"},
    {"layers.*.ffn.out", NEW_LAYER "mlp.down_proj"},
    {"layers.*.ffn.out_norm", LAYER "norm2"},
    {"layers.*.ffn.out_norm", NEW_LAYER "post_mlp_layernorm"},
    {"pooler", "nomic_bert.pooler.dense"},
    {"head_transform", "cls.predictions.transform.dense"},
    {"head_transform.norm", "cls.predictions.transform.layer_norm"},
    {"head.weight", "cls.predictions.decoder.weight"},
    {"head.bias", "cls.predictions.decoder.bias"},
    {"head.bias", "cls.predictions.bias"},
    {"classifier_transform", "nomic_bert.pooler.dense"},
    TASK_TENSORS};

static constexpr StringRef otherTensors[] = {
    "cls.predictions.decoder.weight",
    "cls.predictions.decoder.bias",
    "cls.predictions.bias",
    "cls.predictions.transform.dense.weight",
    "cls.predictions.transform.dense.bias",
    "cls.predictions.transform.layer_norm.weight",
    "cls.predictions.transform.layer_norm.bias"};

static constexpr StringRef silentKeys[] = {
    "attention_probs_dropout_prob",
    "hidden_dropout_prob",
    "classifier_dropout",
    "max_position_embeddings",
    "attn_pdrop",
    "embd_pdrop",
    "resid_pdrop",
    "dense_seq_output",
    "fused_bias_fc",
    "fused_dropout_add_ln",
    "last_layer_subset",
    "layer_norm_fp32",
    "max_trained_positions",
    "n_positions",
    "pad_vocab_size_multiple",
    "pad_vocab_to_multiple_of",
    "reorder_and_upcast_attn",
    "scale_attn_by_inverse_layer_idx_dropout",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "use_flash_attn",
    "use_xentropy"};

// What the checkpoints' own code can do beyond this.
static void refuseOtherForms(Config &config) {
  for (StringRef key :
       {"prenorm", "parallel_block", "parallel_block_tied_norm", "use_rms_norm",
        "qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias", "causal",
        "rotary_emb_interleaved", "scale_attn_by_inverse_layer_idx",
        "add_cross_attention"})
    config.mustBe(key, {"false"});
  config.mustBe("scale_attn_weights", {"true"});
  config.mustBe("rotary_emb_fraction", {"1", "1.0"});
  config.mustBe("rotary_emb_scale_base", {"null"});
  config.mustBe("rotary_scaling_factor", {"null"});
  config.mustBe("activation_function", {"\"swiglu\""});
  config.mustBe("is_decoder", {"false"});
}

static void describe(Config &config, ModelSpec &model) {
  auto either = [&](StringRef key, StringRef old) {
    return !config.has(key) && config.has(old) ? old : key;
  };
  model.layers =
      config.extent(either("num_hidden_layers", "n_layer"), 12, 1 << 16);
  model.hidden = config.extent(either("hidden_size", "n_embd"), 768);
  model.vocab = config.extent("vocab_size", 30528);
  model.tokenTypes = config.extent("type_vocab_size", 2);
  StringRef eps = either("layer_norm_eps", "layer_norm_epsilon");
  Norm norm{NormKind::layer_norm, config.positive(eps, 1e-12), Affine::weight,
            true, config.at(eps)};
  model.embedNorm = norm;
  refuseOtherForms(config);

  Attention a;
  a.heads = a.kvHeads =
      config.extent(either("num_attention_heads", "n_head"), 12, 1 << 16);
  a.headDim = a.valueDim = config.has("head_dim")
                               ? config.extent("head_dim", {}, 1 << 16)
                               : config.dividedHead(model.hidden, a.heads);
  a.scale = 1 / std::sqrt(double(a.headDim.value));
  RopeKeys rope;
  rope.theta = config.positive("rotary_emb_base", 1000);
  a.rope = config.rope(a.headDim, rope);
  FeedForward f;
  f.size = config.extent(either("intermediate_size", "n_inner"), 3072);
  f.act = config.activation("hidden_act", "silu");
  f.gated = true;
  model.units = postNormUnits(a, f, norm);
  if (readTask(config, model, {Activation::tanh}))
    return;
  if (config.architecture == "NomicBertForMaskedLM")
    addMaskedHead(config, model, f.act, norm);
}

const Family mille::import::nomicBert{
    "nomic_bert", architectures, "nomic_bert.", tensors,
    otherTensors, silentKeys,    Scheme::bert,  describe};
