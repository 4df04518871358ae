// The table of architectures: the family of each, its keys as keys of the
// family's config, and values that no key holds.
#include "compiler/import/gguf/Architectures.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using llvm::StringRef;
using llvm::Twine;

namespace {

constexpr KeyWord encoder[] = {{"num_hidden_layers", "block_count"},
                               {"hidden_size", "embedding_length"},
                               {"intermediate_size", "feed_forward_length"},
                               {"num_attention_heads", "attention.head_count"},
                               {"max_position_embeddings", "context_length"}};

// Keys of decoders with RoPE, without those of norms.
constexpr KeyWord decoder[] = {
    {"num_hidden_layers", "block_count"},
    {"hidden_size", "embedding_length"},
    {"intermediate_size", "feed_forward_length"},
    {"num_attention_heads", "attention.head_count"},
    {"head_dim", "attention.key_length", KeyWord::unsaid},
    {"max_position_embeddings", "context_length", KeyWord::unsaid},
    {"rope_theta", "rope.freq_base", "10000"}};

constexpr KeyWord rms = {"rms_norm_eps", "attention.layer_norm_rms_epsilon"};
constexpr KeyWord layerNorm = {"layer_norm_eps",
                               "attention.layer_norm_epsilon"};
constexpr KeyWord window = {"sliding_window", "attention.sliding_window"};
constexpr KeyWord scale = {"logit_scale", "logit_scale"};

constexpr KeyWord onlyRms[] = {rms};
constexpr KeyWord onlyLayerNorm[] = {layerNorm};

using Flag = std::pair<StringRef, StringRef>;
constexpr Flag queryBias = {"attention_bias", "blk.0.attn_q.bias"};
constexpr Flag upBias = {"mlp_bias", "blk.0.ffn_up.bias"};
constexpr Flag onlyQueryBias[] = {queryBias};
constexpr Flag bothBiases[] = {queryBias, upBias};

// Key heads and RoPE, which all decoders have.
void sayHeads(Words &words) {
  words.say(
      {"num_key_value_heads", "attention.head_count_kv", KeyWord::unsaid});
  if (!words.has("attention.head_count_kv"))
    words.say({"num_key_value_heads", "attention.head_count"});
  const int64_t head = words.headSize();
  const int64_t value = words.integer("attention.value_length", head);
  if (value != head)
    words.error(words.whole("attention.value_length") + " is " + Twine(value) +
                " but heads of keys have " + Twine(head) +
                " numbers: Mille does heads of one size here");
}

void furtherDecoder(Words &words) {
  sayHeads(words);
  sayPart(words);
  sayRope(words);
}

// Experts.
constexpr KeyWord localExperts[] = {
    rms,
    {"num_local_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"}};
bool hasExperts(Words &words) { return words.integer("expert_count") > 0; }

constexpr KeyWord qwenExperts[] = {
    rms,
    {"num_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"},
    {"moe_intermediate_size", "expert_feed_forward_length"}};
constexpr KeyWord qwen2Experts[] = {
    rms,
    {"num_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"},
    {"moe_intermediate_size", "expert_feed_forward_length"},
    {"shared_expert_intermediate_size", "expert_shared_feed_forward_length"}};
constexpr Flag projectionBias[] = {{"qkv_bias", "blk.0.attn_q.bias"}};

void furtherQwen3Moe(Words &words) {
  furtherDecoder(words);
  words.say("norm_topk_prob", "true");
}

// The layers that have windows, if the file says it: all but every n-th, or a
// list.
void sayWindows(Words &words) {
  constexpr StringRef key = "attention.sliding_window_pattern";
  if (!words.has(key))
    return;
  std::vector<bool> slides;
  auto listed = [&](double slides_) { slides.push_back(slides_ != 0); };
  if (!words.file.numbers(words.whole(key), listed))
    if (const int64_t pattern = words.integer(key); pattern > 0)
      for (int64_t i = 0;
           i < std::min<int64_t>(1 << 16, words.integer("block_count")); ++i)
        slides.push_back((i + 1) % pattern != 0);
  std::string list;
  for (bool slide : slides)
    list += (list.empty() ? "\"" : ", \"") +
            std::string(slide ? "sliding" : "full") + "_attention\"";
  words.say("layer_types", "[" + list + "]", key);
}

// Gemma scales scores by the width of a head, except in the largest model,
// which no key identifies.
void sayScalar(Words &words, int64_t layersOfLargest) {
  const bool largest = words.integer("block_count") == layersOfLargest;
  const int64_t heads =
      std::max<int64_t>(1, words.integer("attention.head_count"));
  words.say("query_pre_attn_scalar",
            Twine(largest ? words.integer("embedding_length") / heads
                          : words.headSize()));
}
constexpr KeyWord gemma2Words[] = {
    rms,
    window,
    {"attn_logit_softcapping", "attn_logit_softcapping", KeyWord::unsaid},
    {"final_logit_softcapping", "final_logit_softcapping", KeyWord::unsaid}};
void furtherGemma2(Words &words) {
  furtherDecoder(words);
  sayWindows(words);
  sayScalar(words, 46);
}
constexpr KeyWord gemma3Words[] = {
    rms,
    window,
    {"rope_local_base_freq", "rope.freq_base_swa", "10000"},
    {"final_logit_softcapping", "final_logit_softcapping", KeyWord::unsaid}};
void furtherGemma3(Words &words) {
  furtherDecoder(words);
  sayWindows(words);
  sayScalar(words, 62);
}

constexpr KeyWord phi3Words[] = {
    rms,
    {"sliding_window", "attention.sliding_window", KeyWord::unsaid},
    {"original_max_position_embeddings", "rope.scaling.original_context_length",
     KeyWord::unsaid}};

// Multipliers.
constexpr KeyWord graniteWords[] = {
    rms,
    {"embedding_multiplier", "embedding_scale", "1"},
    {"residual_multiplier", "residual_scale", "1"},
    {"attention_multiplier", "attention.scale", KeyWord::unsaid},
    {"logits_scaling", "logit_scale", "1"}};
constexpr KeyWord graniteMoeWords[] = {
    rms,
    {"embedding_multiplier", "embedding_scale", "1"},
    {"residual_multiplier", "residual_scale", "1"},
    {"attention_multiplier", "attention.scale", KeyWord::unsaid},
    {"logits_scaling", "logit_scale", "1"},
    {"num_local_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"}};
void furtherGranite(Words &words) {
  furtherDecoder(words);
  if (!words.has("attention.scale"))
    words.say("attention_multiplier",
              jsonNumber(1 / std::sqrt(double(words.headSize()))));
}
// Files that are older than these keys have the values of the first models.
void furtherMiniCpm(Words &words) {
  furtherGranite(words);
  if (!words.has("embedding_scale"))
    words.say("embedding_multiplier", "12");
  if (!words.has("residual_scale"))
    words.say("residual_multiplier",
              jsonNumber(
                  1.4 / std::sqrt(std::max(1.0, words.number("block_count")))));
  if (!words.has("logit_scale"))
    words.say("logits_scaling",
              jsonNumber(words.number("embedding_length", 256) / 256));
}

constexpr KeyWord starcoderWords[] = {
    {"norm_epsilon", "attention.layer_norm_epsilon"},
    {"sliding_window", "attention.sliding_window", KeyWord::unsaid}};
constexpr Flag starcoderFlags[] = {{"use_bias", "blk.0.attn_q.bias"}};

constexpr KeyWord cohereWords[] = {layerNorm, scale};
constexpr Flag cohereFlags[] = {queryBias,
                                {"use_qk_norm", "blk.0.attn_q_norm.weight"}};
constexpr KeyWord cohere2Words[] = {layerNorm, scale, window};
void furtherCohere2(Words &words) {
  furtherDecoder(words);
  sayWindows(words);
}

constexpr Flag stablelmFlags[] = {{"use_qkv_bias", "blk.0.attn_q.bias"},
                                  {"qk_layernorm", "blk.0.attn_q_norm.weight"}};
// Without a second norm, both branches share one.
void furtherStablelm(Words &words) {
  furtherDecoder(words);
  words.ignore("use_parallel_residual");
  words.say("use_parallel_residual",
            words.holds("blk.0.ffn_norm.weight") ? "false" : "true");
}

constexpr KeyWord gpt2Words[] = {
    {"n_layer", "block_count"},
    {"n_embd", "embedding_length"},
    {"n_inner", "feed_forward_length"},
    {"n_head", "attention.head_count"},
    {"n_positions", "context_length"},
    {"layer_norm_epsilon", "attention.layer_norm_epsilon"}};
// Converters write the head even if it is the word table, so the two are
// compared.
void furtherGpt2(Words &words) {
  words.ignore("attention.head_count_kv");
  words.say("tie_word_embeddings", "true");
}

constexpr KeyWord gptOssWords[] = {
    rms,
    window,
    {"intermediate_size", "expert_feed_forward_length"},
    {"num_local_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"}};
constexpr TensorName gptOssTensors[] = {
    {"layers.*.ffn.in_norm", "blk.*.post_attention_norm"}};
void furtherGptOss(Words &words) {
  sayHeads(words);
  sayPart(words);
  sayRope(words, ", \"truncate\": false");
  sayWindows(words);
}

// Low-rank attention. Files for the absorbed form have the sizes of the shared
// latent under the usual keys, and those of a head under others.
constexpr KeyWord deepseekWords[] = {
    rms,
    {"kv_lora_rank", "attention.kv_lora_rank"},
    {"first_k_dense_replace", "leading_dense_block_count", "0"},
    {"n_routed_experts", "expert_count"},
    {"num_experts_per_tok", "expert_used_count"},
    {"n_shared_experts", "expert_shared_count", "0"},
    {"moe_intermediate_size", "expert_feed_forward_length"},
    {"routed_scaling_factor", "expert_weights_scale", "1"},
    {"norm_topk_prob", "expert_weights_norm", "false"}};
constexpr KeyWord deepseekUsual[] = {
    {"num_hidden_layers", "block_count"},
    {"hidden_size", "embedding_length"},
    {"intermediate_size", "feed_forward_length"},
    {"num_attention_heads", "attention.head_count"},
    {"num_key_value_heads", "attention.head_count"},
    {"max_position_embeddings", "context_length", KeyWord::unsaid},
    {"rope_theta", "rope.freq_base", "10000"}};
bool scoresBySigmoid(Words &words) {
  return words.integer("expert_gating_func") == 2;
}
void furtherDeepseek(Words &words) {
  for (StringRef key : {"attention.head_count_kv", "expert_gating_func",
                        "attention.key_length", "attention.value_length"})
    words.ignore(key);
  auto own = [&](StringRef key) {
    const std::string absorbed = (key + "_mla").str();
    return words.integer(words.has(absorbed) ? StringRef(absorbed) : key);
  };
  const int64_t turning = words.integer("rope.dimension_count");
  words.say("qk_rope_head_dim", Twine(turning), "rope.dimension_count");
  words.say("qk_nope_head_dim", Twine(own("attention.key_length") - turning),
            "attention.key_length");
  words.say("v_head_dim", Twine(own("attention.value_length")),
            "attention.value_length");
  const int64_t rank = words.integer("attention.q_lora_rank");
  words.say("q_lora_rank", rank > 0 ? Twine(rank) : Twine("null"),
            "attention.q_lora_rank");
  sayRope(words);
}
void sayGroups(Words &words, int64_t groups) {
  words.say("n_group", Twine(groups), "expert_group_count");
  words.say({"topk_group", "expert_group_used_count", "1"});
}
void furtherDeepseek2(Words &words) {
  furtherDeepseek(words);
  const int64_t groups = words.integer("expert_group_count", 1);
  words.ignore("expert_group_used_count");
  if (groups <= 1)
    return;
  words.say("topk_method", "\"group_limited_greedy\"");
  sayGroups(words, groups);
}
void furtherDeepseek3(Words &words) {
  furtherDeepseek(words);
  words.say("head_dim", Twine(words.integer("rope.dimension_count")));
  sayGroups(words, words.integer("expert_group_count", 1));
}

// Encoders. The application pools a sentence's vector.
void furtherBert(Words &words) {
  for (StringRef key : {"pooling_type", "attention.head_count_kv",
                        "attention.key_length", "attention.value_length"})
    words.ignore(key);
  if (const auto *types = words.tensors.find("token_types.weight");
      types && !types->tensor->shape.empty())
    words.say("type_vocab_size", Twine(types->tensor->shape[0]));
}
void furtherNomic(Words &words) {
  furtherBert(words);
  words.say({"rope_theta", "rope.freq_base", "1000"});
  sayRope(words);
}

constexpr StringRef llamaModel = "LlamaForCausalLM";

} // namespace

static const Architecture table[] = {
    {"llama",
     &mixtral,
     "MixtralForCausalLM",
     decoder,
     localExperts,
     {},
     furtherDecoder,
     pairedRows,
     hasExperts},
    {"llama", &llama, llamaModel, decoder, onlyRms, bothBiases, furtherDecoder,
     pairedRows},
    {"qwen2", &qwen2, "Qwen2ForCausalLM", decoder, onlyRms, {}, furtherDecoder},
    {"qwen2moe", &qwen2Moe, "Qwen2MoeForCausalLM", decoder, qwen2Experts,
     projectionBias, furtherDecoder},
    {"qwen3", &qwen3, "Qwen3ForCausalLM", decoder, onlyRms, onlyQueryBias,
     furtherDecoder},
    {"qwen3moe", &qwen3Moe, "Qwen3MoeForCausalLM", decoder, qwenExperts,
     onlyQueryBias, furtherQwen3Moe},
    {"gemma",
     &gemma,
     "GemmaForCausalLM",
     decoder,
     onlyRms,
     {},
     furtherDecoder,
     offsetNorms},
    {"gemma2",
     &gemma2,
     "Gemma2ForCausalLM",
     decoder,
     gemma2Words,
     {},
     furtherGemma2,
     offsetNorms},
    {"gemma3",
     &gemma3Text,
     "Gemma3ForCausalLM",
     decoder,
     gemma3Words,
     {},
     furtherGemma3,
     offsetNorms},
    {"phi3", &phi3, "Phi3ForCausalLM", decoder, phi3Words, {}, furtherDecoder},
    {"olmo2", &olmo2, "Olmo2ForCausalLM", decoder, onlyRms, onlyQueryBias,
     furtherDecoder},
    {"granite", &granite, "GraniteForCausalLM", decoder, graniteWords,
     bothBiases, furtherGranite, pairedRows},
    {"granitemoe", &graniteMoe, "GraniteMoeForCausalLM", decoder,
     graniteMoeWords, onlyQueryBias, furtherGranite, pairedRows | apartExperts},
    {"minicpm", &granite, "GraniteForCausalLM", decoder, graniteWords,
     bothBiases, furtherMiniCpm, pairedRows},
    {"starcoder2", &starcoder2, "Starcoder2ForCausalLM", decoder,
     starcoderWords, starcoderFlags, furtherDecoder},
    {"smollm3", &smolLm3, "SmolLM3ForCausalLM", decoder, onlyRms, bothBiases,
     furtherDecoder, pairedRows},
    {"command-r", &cohere, "CohereForCausalLM", decoder, cohereWords,
     cohereFlags, furtherDecoder},
    {"cohere2", &cohere2, "Cohere2ForCausalLM", decoder, cohere2Words,
     onlyQueryBias, furtherCohere2},
    {"stablelm", &stablelm, "StableLmForCausalLM", decoder, onlyLayerNorm,
     stablelmFlags, furtherStablelm},
    {"gpt2", &gpt2, "GPT2LMHeadModel", gpt2Words, {}, {}, furtherGpt2},
    {"gpt-oss", &gptOss, "GptOssForCausalLM", decoder, gptOssWords,
     onlyQueryBias, furtherGptOss, apartExperts, nullptr, gptOssTensors},
    {"deepseek2",
     &deepseekV3,
     "DeepseekV3ForCausalLM",
     deepseekUsual,
     deepseekWords,
     {},
     furtherDeepseek3,
     0,
     scoresBySigmoid},
    {"deepseek2",
     &deepseekV2,
     "DeepseekV2ForCausalLM",
     deepseekUsual,
     deepseekWords,
     {},
     furtherDeepseek2},
    {"bert",
     &bert,
     "BertModel",
     encoder,
     onlyLayerNorm,
     {},
     furtherBert,
     bidirectional},
    {"nomic-bert",
     &nomicBert,
     "NomicBertModel",
     encoder,
     onlyLayerNorm,
     {},
     furtherNomic,
     bidirectional}};

const Architecture *mille::import::architectureOf(StringRef name,
                                                  Words &words) {
  std::string known;
  StringRef last;
  for (const Architecture &one : table) {
    if (one.name == name && (!one.fits || one.fits(words)))
      return &one;
    if (one.name != last)
      known += (known.empty() ? "" : ", ") + one.name.str();
    last = one.name;
  }
  words.error("general.architecture is \"" + escaped(name) +
              "\" but Mille knows " + known);
  return nullptr;
}
