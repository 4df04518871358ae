// The table, with one array per object. Words are in the order of the enums
// that they become, which static assertions below the arrays check.
#include "compiler/import/spec/SpecKeys.h"
#include "compiler/import/ModelSpec.h"
#include "compiler/import/schemes/Schemes.h"
#include "compiler/import/spec/TrainKeys.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mille::import;
using llvm::StringRef;
using K = KeyKind;

static constexpr StringRef activations =
    "identity|relu|relu2|gelu_erf|gelu_tanh|quick_gelu|silu|tanh|sigmoid";

// The keys of a stack. A spec with one stack has them itself.
static constexpr SpecKey layersKey = {"layers", K::whole, "", "required",
                                      "how many layers the stack has"};
static constexpr SpecKey hiddenSizeKey = {"hidden_size", K::whole, "",
                                          "required", "channels of the stream"};
static constexpr SpecKey vocabSizeKey = {"vocab_size", K::whole, "", "required",
                                         "token ids are below it"};
static constexpr SpecKey embeddingKey = {"embedding", K::object, "embedding",
                                         "the table alone",
                                         "tokens to vectors"};
static constexpr SpecKey unitsKey = {
    "units", K::objects, "unit", "required",
    "residual units; each layer has all of them in this order"};
static constexpr SpecKey layerWeightsKey = {
    "layer_weights", K::integers, "", "a set for each layer",
    "for each layer the number of its set of weights: equal numbers share"};
static constexpr SpecKey finalNormKey = {"final_norm", K::object, "norm",
                                         "none", "after the last layer"};

static constexpr SpecKey modelKeys[] = {
    {"$schema", K::text, "", "none", "for editors: where spec.schema.json is"},
    {"name", K::text, "", "by --name and the path", "the model's name"},
    layersKey,
    hiddenSizeKey,
    vocabSizeKey,
    embeddingKey,
    unitsKey,
    layerWeightsKey,
    finalNormKey,
    {"pooling", K::object, "pooling", "no pooled output",
     "one vector per sequence"},
    {"head", K::object, "head", "no logits", "logits over the vocabulary"},
    {"parametrisation", K::word, "standard|ntk", "standard",
     "ntk: every linear but the head's is multiplied by 1/sqrt of its inputs"},
    {"init", K::object, "init", "weights are stored",
     "weights by recipe where no model.safetensors is there"},
    {"train", K::object, "train", "AdamW with its defaults",
     "how a trainer changes the weights"},
    {"encoder", K::object, "stack", "none",
     "with decoder, in place of layers, hidden_size, vocab_size, embedding, "
     "units, layer_weights and final_norm"},
    {"decoder", K::object, "stack", "none", "see encoder; the head reads it"}};

static constexpr SpecKey stackKeys[] = {
    layersKey, hiddenSizeKey,   vocabSizeKey, embeddingKey,
    unitsKey,  layerWeightsKey, finalNormKey};

static constexpr SpecKey embeddingKeys[] = {
    {"scale", K::number, "", "1", "multiplies the token's row"},
    {"position", K::word, "learned|sinusoid", "none",
     "a table added: learned, or sines then cosines"},
    {"position_size", K::whole, "", "required with position",
     "rows of the table"},
    {"position_offset", K::integer, "", "0", "added to a token's position"},
    {"position_from", K::word, "input|ids|mask", "input",
     "what counts: position_ids; ids that are not padding; attention_mask"},
    {"padding_id", K::integer, "", "0", "of position_from ids"},
    {"position_divisor", K::positive, "", "half of hidden_size",
     "of sinusoids: frequency i is 10000^(-i / divisor)"},
    {"token_types", K::whole, "", "none", "rows of a table for token_type_ids"},
    {"norm", K::object, "norm", "none", "after the sum"},
    {"width", K::whole, "", "hidden_size",
     "of word vectors, where a linear takes them to hidden_size"},
    {"projected", K::word, "words|sum|normed", "normed",
     "what that linear takes: the words, the sum, or the norm's result"},
    {"projection_bias", K::flag, "", "false", "of that linear"}};

static constexpr SpecKey unitKeys[] = {
    {"name", K::text, "", "the branch's name, or block",
     "letters, digits, _; part of the names of its weights"},
    {"branches", K::objects, "branch", "required",
     "one, or several in parallel"},
    {"in_norm", K::object, "norm", "none", "before a branch", true},
    {"branch_norm", K::object, "norm", "none", "after a branch", true},
    {"out_norm", K::object, "norm", "none", "after the sum", true},
    {"skip_scale", K::object, "scale", "1", "of the skip", true},
    {"branch_scale", K::object, "scale", "1", "of a branch, after its norm",
     true},
    {"stream_scale", K::object, "scale", "1", "of the unit's result", true},
    {"residual_tap", K::word, "input|normed", "input",
     "whether the skip is taken before or after in_norm"},
    {"composition", K::word, "sequential|parallel", "by the number of branches",
     "sequential: one branch"},
    {"shared_in_norm", K::flag, "", "true",
     "parallel branches read one normed input"}};

static constexpr SpecKey normKeys[] = {
    {"kind", K::word, "layer_norm|rms_norm|l2_norm|identity", "required",
     "l2_norm of queries and keys only"},
    {"affine", K::word, "none|weight|one_plus_weight",
     "weight; none for l2_norm", "what multiplies the normed row"},
    {"bias", K::flag, "", "true for a layer_norm with weight",
     "is added after"},
    {"eps", K::positive, "", "1e-05",
     "inside the root; of l2_norm the least length"},
    {"group", K::word, "row|head|heads", "head",
     "of qk_norm: all heads as one row; each head by one weight; each by its "
     "own. "
     "Of inner_norm row or head; absent: row"}};

static constexpr SpecKey scaleKeys[] = {
    {"kind", K::word, "const|learned_scalar|learned_channel|scheduled",
     "required", "what the scale is"},
    {"value", K::number, "", "required without formula", "of const"},
    {"formula", K::text, "", "none",
     "of const: numbers, layers, hidden_size, encoder_layers, decoder_layers, "
     "+ - "
     "* / ^, parentheses, sqrt, ln; must agree with value to 1e-12"},
    {"init", K::number, "", "1", "of a learned one, where weights are made"},
    {"share", K::word, "unit|layer|model", "unit",
     "over what a learned one is one"},
    {"from", K::number, "", "0", "of scheduled, at step 0"},
    {"to", K::number, "", "1",
     "of scheduled, from `steps` on and at inference"},
    {"steps", K::whole, "", "required", "of scheduled"}};

static constexpr SpecKey branchKeys[] = {
    {"kind", K::word, "attention|ffn", "required", "what the branch is"},
    {"name", K::text, "", "attn, or ffn", "letters, digits, _"},
    {"pattern", K::objects, "branch", "all layers alike",
     "objects whose keys replace the branch's own: layer l takes entry l "
     "modulo "
     "their number"},
    // Attention.
    {"heads", K::whole, "", "required", "attention: query heads"},
    {"kv_heads", K::whole, "", "heads", "key and value heads; divides heads"},
    {"head_dim", K::whole, "", "hidden_size / heads",
     "channels of a query or key head"},
    {"value_dim", K::whole, "", "head_dim", "channels of a value head"},
    {"mask", K::word, "bidirectional|causal|prefix|cross", "bidirectional",
     "prefix: causal but for the first prefix_tokens keys (an input); cross: "
     "keys of the encoder"},
    {"window", K::integers, "", "open",
     "[l, r]: key j is seen by i when i - l < j < i + r; 0: open"},
    {"chunk", K::integer, "", "0",
     "keys of other chunks of so many tokens are hidden"},
    {"logit_scale", K::object, "logit_scale", "1/sqrt(head_dim)",
     "of the scores"},
    {"softcap", K::positive, "", "none", "c tanh(score / c)"},
    {"rope", K::object, "rope", "none", "rotary positions"},
    {"rotate_value", K::flag, "", "false", "values are rotated too"},
    {"position_bias", K::wordOrObject, "alibi distance_bias", "none",
     "added to scores"},
    {"qk_norm", K::object, "norm", "none", "of queries and of keys"},
    {"qk_norm_order", K::word, "pre_rope|post_rope", "pre_rope",
     "where qk_norm is"},
    {"qk_gain", K::number, "", "1",
     "multiplies queries and keys after qk_norm"},
    {"qkv_clip", K::positive, "", "none",
     "queries, keys and values within +- it"},
    {"qkv_act", K::word, activations, "identity",
     "on queries, keys and values"},
    {"sink", K::word, "learned", "none",
     "a score per head that takes no value"},
    {"output_gate", K::word, activations, "none",
     "multiplies the heads by this function of a linear of the branch's input"},
    {"layout", K::word, "separate|concat|grouped", "separate",
     "how the file holds q, k, v: apart; all of q, of k, of v in one matrix; "
     "for "
     "each key head its queries, key and value"},
    {"latent", K::object, "latent", "none", "low-rank queries and keys (MLA)"},
    {"decay", K::numbers, "", "none",
     "one per head: linear attention, exp(-decay (i - j)) in place of a "
     "softmax"},
    // Feed-forward.
    {"intermediate_size", K::whole, "", "required", "ffn: inner channels"},
    {"act", K::word, activations, "required", "ffn: the activation"},
    {"gated", K::word, "none|glu", "none", "act(gate) * up"},
    {"gate_layout", K::word, "separate|concat|interleaved", "separate",
     "how the file holds gate and up"},
    {"activated_half", K::word, "first|second", "first",
     "which part of a fused matrix is the gate"},
    {"act_limit", K::positive, "", "none", "gate at most, up within +-, this"},
    {"up_offset", K::number, "", "0", "act(gate) * (up + offset)"},
    {"experts", K::object, "experts", "none", "mixture of experts"},
    // Both.
    {"bias", K::object, "biases", "none", "which linears have one"},
    {"inner_norm", K::object, "norm", "none", "before the output's linear"},
    {"input_shift", K::flag, "", "false",
     "a learned scalar added to the input of every linear"}};

static constexpr SpecKey biasKeys[] = {
    {"q", K::flag, "", "false", "attention: queries"},
    {"k", K::flag, "", "false", "keys"},
    {"v", K::flag, "", "false", "values"},
    {"o", K::flag, "", "false", "the output"},
    {"in", K::flag, "", "false", "ffn: up and gate"},
    {"out", K::flag, "", "false", "ffn: the output"}};

static constexpr SpecKey logitScaleKeys[] = {
    {"static", K::wordOrObject, "rsqrt_head_dim|one static_scale",
     "rsqrt_head_dim", "a number for all layers"},
    {"layer", K::word, "1/(l+1)", "1",
     "a further factor by the layer's number"},
    {"length", K::object, "length_scale", "1", "a further factor by length"},
    {"learned", K::word, "exp_min_ln100", "1",
     "exp(min(t, ln 100)), t per head"}};

static constexpr SpecKey staticScaleKeys[] = {
    {"const", K::number, "", "required without rsqrt", "the factor"},
    {"rsqrt", K::positive, "", "none", "the factor is 1/sqrt of it"}};

static constexpr SpecKey lengthScaleKeys[] = {
    {"kind", K::word, "log_n|max_1_log_i|log_floor", "required",
     "log_m n of the n keys seen; max(1, log_m i) of the i-th token; 1 + beta "
     "log(1 + floor((position + offset) / period))"},
    {"m", K::positive, "", "required", "of log_n and max_1_log_i, > 1"},
    {"floor", K::positive, "", "1", "of log_n: the least n"},
    {"beta", K::number, "", "required", "of log_floor"},
    {"period", K::whole, "", "required", "of log_floor"},
    {"offset", K::integer, "", "0", "of log_floor"}};

static constexpr SpecKey ropeKeys[] = {
    {"theta", K::positive, "", "10000",
     "frequency i is theta^(-2i / rotary_dim)"},
    {"rotary_dim", K::whole, "", "head_dim",
     "dimensions of a head that turn; even"},
    {"pairing", K::word, "half|inter|interleaved", "half",
     "pairs (i, i + rotary_dim / 2), or (2i, 2i + 1)"},
    {"sign", K::word, "+1|-1", "+1", "-1 turns backwards"},
    {"scaling", K::object, "rope_scaling", "none", "for longer texts"}};

static constexpr SpecKey ropeScalingKeys[] = {
    {"kind", K::word, "linear|dynamic|yarn|longrope|llama3", "required", "how"},
    {"factor", K::positive, "", "required but for longrope", "how much longer"},
    {"original_length", K::whole, "", "required but for linear",
     "the length that was trained"},
    {"beta_fast", K::positive, "", "32", "of yarn"},
    {"beta_slow", K::positive, "", "1", "of yarn"},
    {"truncate", K::flag, "", "true", "of yarn"},
    {"low_freq_factor", K::positive, "", "required", "of llama3"},
    {"high_freq_factor", K::positive, "", "required", "of llama3"},
    {"short_factor", K::numbers, "", "required", "of longrope, one per pair"},
    {"long_factor", K::numbers, "", "required",
     "of longrope, beyond original_length"},
    {"attention_factor", K::positive, "",
     "by yarn's and longrope's rule; else 1", "multiplies cosines and sines"}};

static constexpr SpecKey distanceKeys[] = {
    {"buckets", K::whole, "", "32",
     "rows of the table, T5's logarithmic buckets"},
    {"max_distance", K::whole, "", "128", "beyond it the last bucket"},
    {"shared", K::flag, "", "true", "one table for all layers"}};

static constexpr SpecKey latentKeys[] = {
    {"query_rank", K::whole, "", "queries straight from the stream",
     "rank of queries"},
    {"rank", K::whole, "", "required", "rank of keys and values together"},
    {"nope_dim", K::whole, "", "required", "dimensions of a head without RoPE"},
    {"rope_dim", K::whole, "", "required",
     "dimensions with RoPE; one key for all heads"},
    {"query_norm", K::object, "norm", "none", "of the query's latent"},
    {"norm", K::object, "norm", "none", "of the latent of keys and values"},
    {"query_bias", K::flag, "", "false",
     "of the projection down to query_rank"},
    {"bias", K::flag, "", "false", "of the projection down to rank"}};

static constexpr SpecKey expertKeys[] = {
    {"count", K::whole, "", "required", "how many experts"},
    {"chosen", K::whole, "", "required", "how many a token takes"},
    {"score", K::word, "softmax|sigmoid", "softmax", "of the router's logits"},
    {"order", K::word, "score_then_topk|topk_then_score", "score_then_topk",
     "topk_then_score: a softmax over the chosen logits"},
    {"selection_bias", K::flag, "", "false", "learned, for choosing only"},
    {"groups", K::whole, "", "1", "groups of consecutive experts"},
    {"top_groups", K::whole, "", "groups", "groups that may be chosen from"},
    {"group_score", K::word, "max|sum_top2", "max", "of a group"},
    {"renorm", K::word, "none|sum", "none", "weights divided by their sum"},
    {"epsilon", K::number, "", "0", "added to that sum"},
    {"routed_scale", K::number, "", "1", "multiplies the weights"},
    {"score_site", K::word, "output|input", "output",
     "what a weight multiplies"},
    {"router_bias", K::flag, "", "false", "of the router's linear"},
    {"layout", K::word, "separate|concat|interleaved", "separate",
     "how the file holds gate and up"},
    {"shared_size", K::whole, "", "none",
     "inner channels of experts that all take"},
    {"shared_gate", K::flag, "", "false", "sigmoid(w . x) on the shared ones"}};

static constexpr SpecKey poolingKeys[] = {
    {"kind", K::word, "first|last|mean|first_id|highest_id", "first",
     "which token, or the mean; by ids: the first that is `id`, the largest"},
    {"id", K::integer, "", "0", "of first_id"},
    {"skip", K::integer, "", "0", "tokens before the first that counts"},
    {"norm", K::object, "norm", "none", "after pooling"},
    {"dense", K::flag, "", "true", "a linear with bias, then act"},
    {"act", K::word, activations, "tanh", "after dense"}};

static constexpr SpecKey headKeys[] = {
    {"tied", K::flag, "", "false", "logits by the embedding's table"},
    {"bias", K::flag, "", "false", "head.bias"},
    {"logits_scale", K::number, "", "1", "multiplies logits"},
    {"logits_softcap", K::positive, "", "none", "c tanh(logit / c)"},
    {"transform", K::object, "transform", "none", "before the logits"}};

static constexpr SpecKey transformKeys[] = {
    {"act", K::word, activations, "required", "after a linear"},
    {"norm", K::object, "norm", "none", "after act"},
    {"width", K::whole, "", "hidden_size", "of the linear's result"},
    {"bias", K::flag, "", "true", "of the linear"}};

static constexpr SpecKey initKeys[] = {
    {"scheme", K::word, schemeWords, "required",
     "how weights are drawn: docs/init.md says each"},
    {"seed", K::integer, "", "0", "same seed, same bits"}};

//===-- Words that become enums -------------------------------------------===//

// Whether the words of `key` are `words`, and the index of each equals the enum
// value beside it.
template <typename Enum, size_t keyCount, size_t wordCount>
static constexpr bool
areWords(const SpecKey (&keys)[keyCount], std::string_view key,
         const std::pair<Enum, std::string_view> (&words)[wordCount]) {
  for (const SpecKey &entry : keys) {
    if (std::string_view(entry.key) != key)
      continue;
    std::string_view rest = entry.of;
    for (size_t i = 0; i < wordCount; ++i) {
      auto [value, word] = words[i];
      bool isLast = i + 1 == wordCount;
      if (size_t(value) != i || rest.substr(0, word.size()) != word ||
          (rest.size() == word.size()) != isLast ||
          (!isLast && rest[word.size()] != '|'))
        return false;
      rest.remove_prefix(isLast ? word.size() : word.size() + 1);
    }
    return true;
  }
  return false;
}

namespace tf = mille::transformer;
using tf::Activation, tf::Affine, tf::GroupScore, tf::LengthKind, tf::NormKind,
    tf::Pool, tf::RouterScore, tf::ScaleKind, tf::Share, tf::Tap;

template <size_t count>
static constexpr bool areActivations(const SpecKey (&keys)[count],
                                     std::string_view key) {
  return areWords<Activation>(keys, key,
                              {{Activation::identity, "identity"},
                               {Activation::relu, "relu"},
                               {Activation::relu2, "relu2"},
                               {Activation::gelu_erf, "gelu_erf"},
                               {Activation::gelu_tanh, "gelu_tanh"},
                               {Activation::quick_gelu, "quick_gelu"},
                               {Activation::silu, "silu"},
                               {Activation::tanh, "tanh"},
                               {Activation::sigmoid, "sigmoid"}});
}
static_assert(areActivations(branchKeys, "qkv_act"));
static_assert(areActivations(branchKeys, "output_gate"));
static_assert(areActivations(branchKeys, "act"));
static_assert(areActivations(poolingKeys, "act"));
static_assert(areActivations(transformKeys, "act"));

static_assert(areWords<PositionsFrom>(embeddingKeys, "position_from",
                                      {{PositionsFrom::input, "input"},
                                       {PositionsFrom::ids, "ids"},
                                       {PositionsFrom::mask, "mask"}}));
static_assert(areWords<ProjectedAt>(embeddingKeys, "projected",
                                    {{ProjectedAt::words, "words"},
                                     {ProjectedAt::sum, "sum"},
                                     {ProjectedAt::normed, "normed"}}));
static_assert(areWords<Tap>(unitKeys, "residual_tap",
                            {{Tap::input, "input"}, {Tap::normed, "normed"}}));
static_assert(areWords<NormKind>(normKeys, "kind",
                                 {{NormKind::layer_norm, "layer_norm"},
                                  {NormKind::rms_norm, "rms_norm"},
                                  {NormKind::l2_norm, "l2_norm"},
                                  {NormKind::identity, "identity"}}));
static_assert(areWords<Affine>(normKeys, "affine",
                               {{Affine::none, "none"},
                                {Affine::weight, "weight"},
                                {Affine::one_plus_weight, "one_plus_weight"}}));
static_assert(areWords<NormGroup>(normKeys, "group",
                                  {{NormGroup::row, "row"},
                                   {NormGroup::head, "head"},
                                   {NormGroup::heads, "heads"}}));
static_assert(
    areWords<ScaleKind>(scaleKeys, "kind",
                        {{ScaleKind::constant, "const"},
                         {ScaleKind::learned_scalar, "learned_scalar"},
                         {ScaleKind::learned_channel, "learned_channel"},
                         {ScaleKind::scheduled, "scheduled"}}));
static_assert(areWords<Share>(
    scaleKeys, "share",
    {{Share::unit, "unit"}, {Share::layer, "layer"}, {Share::model, "model"}}));
static_assert(areWords<QkvLayout>(branchKeys, "layout",
                                  {{QkvLayout::separate, "separate"},
                                   {QkvLayout::concat, "concat"},
                                   {QkvLayout::grouped, "grouped"}}));
static_assert(areWords<GateLayout>(branchKeys, "gate_layout",
                                   {{GateLayout::separate, "separate"},
                                    {GateLayout::concat, "concat"},
                                    {GateLayout::interleaved, "interleaved"}}));
static_assert(areWords<GateLayout>(expertKeys, "layout",
                                   {{GateLayout::separate, "separate"},
                                    {GateLayout::concat, "concat"},
                                    {GateLayout::interleaved, "interleaved"}}));
static_assert(areWords<LengthKind>(lengthScaleKeys, "kind",
                                   {{LengthKind::log_keys, "log_n"},
                                    {LengthKind::log_position, "max_1_log_i"},
                                    {LengthKind::log_floor, "log_floor"}}));
static_assert(areWords<RouterScore>(expertKeys, "score",
                                    {{RouterScore::softmax, "softmax"},
                                     {RouterScore::sigmoid, "sigmoid"}}));
static_assert(areWords<GroupScore>(expertKeys, "group_score",
                                   {{GroupScore::max, "max"},
                                    {GroupScore::sum_top2, "sum_top2"}}));
static_assert(areWords<Pool>(poolingKeys, "kind",
                             {{Pool::first, "first"},
                              {Pool::last, "last"},
                              {Pool::mean, "mean"},
                              {Pool::first_id, "first_id"},
                              {Pool::highest_id, "highest_id"}}));

//===-- Objects -----------------------------------------------------------===//

static constexpr SpecObject objects[] = {
    {"spec", "The file.", modelKeys},
    {"stack",
     "An encoder or a decoder; the names of its weights begin with "
     "`encoder.` or `decoder.`.",
     stackKeys},
    {"embedding", "Token and position tables.", embeddingKeys},
    {"unit",
     "y = stream_scale * out_norm(skip_scale * r + sum of branch_scale * "
     "branch_norm(F(u))), u = in_norm(x), r = x or u.",
     unitKeys},
    {"branch", "Attention or feed-forward, inside a unit.", branchKeys},
    {"norm", "One norm.", normKeys},
    {"scale", "One scale.", scaleKeys},
    {"biases", "Which linears have a bias.", biasKeys},
    {"logit_scale", "The factors of attention's scores; their product counts.",
     logitScaleKeys},
    {"static_scale", "A number as itself or under a root.", staticScaleKeys},
    {"length_scale", "A factor by position or number of keys.",
     lengthScaleKeys},
    {"rope", "Rotary position embedding.", ropeKeys},
    {"rope_scaling", "Frequencies for texts longer than trained.",
     ropeScalingKeys},
    {"distance_bias", "A learned bias by distance in buckets (T5).",
     distanceKeys},
    {"latent", "Multi-head latent attention.", latentKeys},
    {"experts", "A mixture of experts; intermediate_size is one expert's.",
     expertKeys},
    {"pooling", "One vector per sequence, the output `pooler_output`.",
     poolingKeys},
    {"head", "Logits.", headKeys},
    {"transform", "Dense, activation, norm.", transformKeys},
    {"init", "Weights by recipe.", initKeys},
    {"train",
     "A step: the gradient of the mean cross-entropy over the labels that "
     "count, clipped, then the optimizer.",
     trainKeys},
    {"group", "Parameters that are trained otherwise.", groupKeys}};

llvm::ArrayRef<SpecObject> mille::import::specObjects() { return objects; }

const SpecObject &mille::import::specObject(StringRef name) {
  for (const SpecObject &object : objects)
    if (object.name == name)
      return object;
  llvm_unreachable("the table refers to an object that it does not have");
}

const SpecKey &mille::import::specKey(const SpecObject &object, StringRef key) {
  for (const SpecKey &entry : object.keys)
    if (entry.key == key)
      return entry;
  llvm_unreachable("a key is read that the table does not have");
}
