"""What converters of the format do with each family: names, keys, changes. By
the format's description; shares nothing with what it tests."""
import math
import re
import sys

from gguf_tensors import Tensor


# What the GGUF calls a tensor of most families; a family's own come first.
NAMES = [
    (r"model\.embed_tokens\.", "token_embd."),
    (r"model\.norm\.", "output_norm."),
    (r"lm_head\.", "output."),
    (r"model\.layers\.(\d+)\.input_layernorm\.", r"blk.\1.attn_norm."),
    (r"model\.layers\.(\d+)\.self_attn\.([qkv])_proj\.", r"blk.\1.attn_\2."),
    (r"model\.layers\.(\d+)\.self_attn\.o_proj\.", r"blk.\1.attn_output."),
    (r"model\.layers\.(\d+)\.self_attn\.([qk])_norm\.", r"blk.\1.attn_\2_norm."),
    (r"model\.layers\.(\d+)\.self_attn\.qkv_proj\.", r"blk.\1.attn_qkv."),
    (r"model\.layers\.(\d+)\.self_attn\.q_a_proj\.", r"blk.\1.attn_q_a."),
    (r"model\.layers\.(\d+)\.self_attn\.q_a_layernorm\.", r"blk.\1.attn_q_a_norm."),
    (r"model\.layers\.(\d+)\.self_attn\.q_b_proj\.", r"blk.\1.attn_q_b."),
    (r"model\.layers\.(\d+)\.self_attn\.kv_a_proj_with_mqa\.", r"blk.\1.attn_kv_a_mqa."),
    (r"model\.layers\.(\d+)\.self_attn\.kv_a_layernorm\.", r"blk.\1.attn_kv_a_norm."),
    (r"model\.layers\.(\d+)\.self_attn\.kv_b_proj\.", r"blk.\1.attn_kv_b."),
    (r"model\.layers\.(\d+)\.self_attn\.sinks$", r"blk.\1.attn_sinks.weight"),
    (r"model\.layers\.(\d+)\.post_attention_layernorm\.", r"blk.\1.ffn_norm."),
    (r"model\.layers\.(\d+)\.pre_feedforward_layernorm\.", r"blk.\1.ffn_norm."),
    (r"model\.layers\.(\d+)\.post_feedforward_layernorm\.", r"blk.\1.post_ffw_norm."),
    (r"model\.layers\.(\d+)\.mlp\.(gate|up|down)_proj\.", r"blk.\1.ffn_\2."),
    (r"model\.layers\.(\d+)\.mlp\.gate_up_proj\.", r"blk.\1.ffn_up."),
    (r"model\.layers\.(\d+)\.mlp\.c_fc\.", r"blk.\1.ffn_up."),
    (r"model\.layers\.(\d+)\.mlp\.c_proj\.", r"blk.\1.ffn_down."),
    (r"model\.layers\.(\d+)\.(?:mlp|block_sparse_moe)\.(?:gate|router|router\.layer)\.(weight|bias)$",
     r"blk.\1.ffn_gate_inp.\2"),
    (r"model\.layers\.(\d+)\.mlp\.gate\.e_score_correction_bias$", r"blk.\1.exp_probs_b.bias"),
    (r"model\.layers\.(\d+)\.mlp\.shared_experts?\.(gate|up|down)_proj\.", r"blk.\1.ffn_\2_shexp."),
    (r"model\.layers\.(\d+)\.mlp\.shared_expert_gate\.", r"blk.\1.ffn_gate_inp_shexp."),
    (r"model\.layers\.(\d+)\.mlp\.experts\.down_proj_bias$", r"blk.\1.ffn_down_exps.bias"),
    (r"transformer\.wte\.", "token_embd."),
    (r"transformer\.wpe\.", "position_embd."),
    (r"transformer\.ln_f\.", "output_norm."),
    (r"transformer\.h\.(\d+)\.ln_1\.", r"blk.\1.attn_norm."),
    (r"transformer\.h\.(\d+)\.ln_2\.", r"blk.\1.ffn_norm."),
    (r"transformer\.h\.(\d+)\.attn\.c_attn\.", r"blk.\1.attn_qkv."),
    (r"transformer\.h\.(\d+)\.attn\.c_proj\.", r"blk.\1.attn_output."),
    (r"transformer\.h\.(\d+)\.mlp\.c_fc\.", r"blk.\1.ffn_up."),
    (r"transformer\.h\.(\d+)\.mlp\.c_proj\.", r"blk.\1.ffn_down."),
    (r"(?:nomic_bert\.)?embeddings\.word_embeddings\.", "token_embd."),
    (r"(?:nomic_bert\.)?embeddings\.token_type_embeddings\.", "token_types."),
    (r"embeddings\.position_embeddings\.", "position_embd."),
    (r"embeddings\.LayerNorm\.|nomic_bert\.emb_ln\.", "token_embd_norm."),
    (r"encoder\.layer\.(\d+)\.attention\.self\.query\.", r"blk.\1.attn_q."),
    (r"encoder\.layer\.(\d+)\.attention\.self\.key\.", r"blk.\1.attn_k."),
    (r"encoder\.layer\.(\d+)\.attention\.self\.value\.", r"blk.\1.attn_v."),
    (r"encoder\.layer\.(\d+)\.attention\.output\.dense\.", r"blk.\1.attn_output."),
    (r"encoder\.layer\.(\d+)\.attention\.output\.LayerNorm\.", r"blk.\1.attn_output_norm."),
    (r"encoder\.layer\.(\d+)\.intermediate\.dense\.", r"blk.\1.ffn_up."),
    (r"encoder\.layer\.(\d+)\.output\.dense\.", r"blk.\1.ffn_down."),
    (r"encoder\.layer\.(\d+)\.output\.LayerNorm\.", r"blk.\1.layer_output_norm."),
    (r"nomic_bert\.encoder\.layers\.(\d+)\.attn\.Wqkv\.", r"blk.\1.attn_qkv."),
    (r"nomic_bert\.encoder\.layers\.(\d+)\.attn\.out_proj\.", r"blk.\1.attn_output."),
    (r"nomic_bert\.encoder\.layers\.(\d+)\.mlp\.fc11\.", r"blk.\1.ffn_up."),
    (r"nomic_bert\.encoder\.layers\.(\d+)\.mlp\.fc12\.", r"blk.\1.ffn_gate."),
    (r"nomic_bert\.encoder\.layers\.(\d+)\.mlp\.fc2\.", r"blk.\1.ffn_down."),
    (r"nomic_bert\.encoder\.layers\.(\d+)\.norm1\.", r"blk.\1.attn_output_norm."),
    (r"nomic_bert\.encoder\.layers\.(\d+)\.norm2\.", r"blk.\1.layer_output_norm.")]
AFTER = [(r"model\.layers\.(\d+)\.post_attention_layernorm\.",
          r"blk.\1.post_attention_norm.")]

# Keys of a config under the names of the format.
KEYS = [("num_hidden_layers n_layer", "block_count"),
        ("hidden_size n_embd", "embedding_length"),
        ("intermediate_size n_inner", "feed_forward_length"),
        ("num_attention_heads n_head", "attention.head_count"),
        ("num_key_value_heads", "attention.head_count_kv"),
        ("head_dim", "attention.key_length"),
        ("head_dim", "attention.value_length"),
        ("max_position_embeddings n_positions", "context_length"),
        ("rms_norm_eps", "attention.layer_norm_rms_epsilon"),
        ("layer_norm_eps layer_norm_epsilon norm_epsilon",
         "attention.layer_norm_epsilon"),
        ("rope_theta", "rope.freq_base"),
        ("num_local_experts num_experts n_routed_experts", "expert_count"),
        ("num_experts_per_tok", "expert_used_count")]


class Family:
    def __init__(self, architecture, keys=(), names=(), pairs=False,
                 offset=False, drop=(), change=None, more=None, absent={}):
        self.architecture, self.keys, self.names = architecture, keys, names
        self.pairs, self.offset, self.drop = pairs, offset, drop
        self.change, self.more = change, more
        self.absent = absent  # what the configuration class says


MOE = [("moe_intermediate_size", "expert_feed_forward_length")]
MULTIPLIERS = [("embedding_multiplier", "embedding_scale"),
               ("residual_multiplier", "residual_scale"),
               ("attention_multiplier", "attention.scale"),
               ("logits_scaling", "logit_scale")]
WINDOW = [("sliding_window", "attention.sliding_window")]


def head_of(config):
    return config.get("head_dim") or (config["hidden_size"]
                                      // config["num_attention_heads"])


def gemma_scalar(config):
    config["query_pre_attn_scalar"] = head_of(config)


def minicpm(config):
    """What the first models have, whose files say no multiplier."""
    config.update(embedding_multiplier=12.0, logits_scaling=config["hidden_size"] / 256,
                  residual_multiplier=1.4 / math.sqrt(config["num_hidden_layers"]),
                  attention_multiplier=1 / math.sqrt(head_of(config)))


def turning(config, keys, tensors):
    part = config.get("partial_rotary_factor", 1)
    keys["rope.dimension_count"] = int(part * head_of(config))


def scaling(config, keys, tensors):
    turning(config, keys, tensors)
    said = config.get("rope_scaling") or config.get("rope_parameters") or {}
    kind = said.get("rope_type") or said.get("type")
    if kind in ("linear", "yarn"):
        keys["rope.scaling.type"] = kind
        keys["rope.scaling.factor"] = float(said["factor"])
    for key in ("beta_fast", "beta_slow"):
        if key in said:
            keys["rope.scaling.yarn_" + key] = float(said[key])
    if "rope_theta" in said:
        keys["rope.freq_base"] = said["rope_theta"]
    if "original_max_position_embeddings" in said:
        keys["rope.scaling.original_context_length"] = said[
            "original_max_position_embeddings"]
    if kind == "longrope":
        for length in ("long", "short"):
            factors = said[length + "_factor"]
            tensors[f"rope_factors_{length}.weight"] = Tensor([len(factors)], factors)
    if kind == "llama3":
        tensors["rope_freqs.weight"] = llama3(config, said)


def llama3(config, said):
    """How much slower each pair turns."""
    head, factors = head_of(config), []
    for i in range(head // 2):
        length = 2 * math.pi * config["rope_theta"] ** (2 * i / head)
        turns = said["original_max_position_embeddings"] / length
        low, high = said["low_freq_factor"], said["high_freq_factor"]
        stay = min(1, max(0, (turns - low) / (high - low)))
        factors.append(1 / ((1 - stay) / said["factor"] + stay))
    return Tensor([len(factors)], factors)


def phi3(config, keys, tensors):
    scaling(config, keys, tensors)
    if config.get("rope_scaling"):
        stretch = config["max_position_embeddings"] / config["original_max_position_embeddings"]
        keys["rope.scaling.attn_factor"] = math.sqrt(
            1 + math.log(stretch) / math.log(config["original_max_position_embeddings"]))


def gemma3(config, keys, tensors):
    scaling(config, keys, tensors)
    keys["attention.sliding_window_pattern"] = config["sliding_window_pattern"]


def qwen2moe(config, keys, tensors):
    keys["expert_shared_feed_forward_length"] = config["shared_expert_intermediate_size"]


def gpt_oss(config, keys, tensors):
    scaling(config, keys, tensors)
    keys["expert_feed_forward_length"] = config["intermediate_size"]


def deepseek(config, keys, tensors):
    absorbed = "--absorbed" in sys.argv
    head = config["qk_nope_head_dim"] + config["qk_rope_head_dim"]
    rank = config["kv_lora_rank"]
    for key, value, other in (
            ("key_length", head, rank + config["qk_rope_head_dim"]),
            ("value_length", config["v_head_dim"], rank)):
        keys["attention." + key] = other if absorbed else value
        if absorbed:
            keys["attention." + key + "_mla"] = value
    if absorbed:
        keys["attention.head_count_kv"] = 1
    if config.get("q_lora_rank"):
        keys["attention.q_lora_rank"] = config["q_lora_rank"]
    keys["rope.dimension_count"] = config["qk_rope_head_dim"]
    keys["leading_dense_block_count"] = config["first_k_dense_replace"]
    keys["expert_shared_count"] = config.get(
        "n_shared_experts", 1 if config["model_type"] == "deepseek_v3" else 2)
    sigmoid = config["model_type"] == "deepseek_v3"
    keys["expert_weights_scale"] = config.get("routed_scaling_factor", 2.5)
    keys["expert_weights_norm"] = config.get("norm_topk_prob", sigmoid)
    keys["expert_gating_func"] = 2 if sigmoid else 1
    if sigmoid or config.get("topk_method") == "group_limited_greedy":
        keys["expert_group_count"] = config["n_group"]
        keys["expert_group_used_count"] = config["topk_group"]
    said = config.get("rope_scaling")
    if said:
        head, config["head_dim"] = config.get("head_dim"), config["qk_rope_head_dim"]
        scaling(config, keys, tensors)
        config["head_dim"] = head
        keys["rope.scaling.yarn_log_multiplier"] = 0.1 * said["mscale_all_dim"]


def no_window(config):
    config["sliding_window"] = None


def stablelm(config, keys, tensors):
    turning(config, keys, tensors)
    keys["use_parallel_residual"] = config["use_parallel_residual"]


def bert(config, keys, tensors):
    keys["attention.causal"] = False
    keys["pooling_type"] = 1


def bert_base(config):
    stem = re.sub("(For.*|Model)$", "", config["architectures"][0])
    config["architectures"] = [stem + "Model"]


def nomic(config, keys, tensors):
    bert(config, keys, tensors)
    keys["rope.freq_base"] = 1000.0


FAMILIES = {
    "llama": Family("llama", pairs=True, more=scaling),
    "mixtral": Family("llama", pairs=True, more=scaling,
                      absent={"expert_used_count": 2}),
    "qwen2": Family("qwen2", more=turning),
    "qwen2_moe": Family("qwen2moe", MOE, more=qwen2moe),
    "qwen3": Family("qwen3", more=turning),
    "qwen3_moe": Family("qwen3moe", MOE, more=turning),
    "gemma": Family("gemma", offset=True),
    "gemma2": Family("gemma2", WINDOW + [
        ("attn_logit_softcapping", "attn_logit_softcapping"),
        ("final_logit_softcapping", "final_logit_softcapping")],
        AFTER, offset=True, change=gemma_scalar),
    "gemma3_text": Family("gemma3", WINDOW + [
        ("rope_local_base_freq", "rope.freq_base_swa")],
        AFTER, offset=True, change=gemma_scalar, more=gemma3),
    "phi3": Family("phi3", WINDOW, more=phi3),
    "olmo2": Family("olmo2", names=AFTER),
    "granite": Family("granite", MULTIPLIERS, pairs=True),
    "minicpm": Family("minicpm", pairs=True, change=minicpm),
    "granitemoe": Family("granitemoe", MULTIPLIERS, pairs=True,
                         absent={"expert_used_count": 2}),
    "starcoder2": Family("starcoder2", change=no_window),
    "smollm3": Family("smollm3", pairs=True),
    "cohere": Family("command-r", [("logit_scale", "logit_scale")]),
    "cohere2": Family("cohere2", WINDOW + [("logit_scale", "logit_scale"), (
        "sliding_window_pattern", "attention.sliding_window_pattern")]),
    "stablelm": Family("stablelm", more=stablelm),
    "gpt2": Family("gpt2", absent={"attention.layer_norm_epsilon": 1e-5}),
    "gpt_oss": Family("gpt-oss", WINDOW, AFTER, more=gpt_oss),
    "deepseek_v2": Family("deepseek2", MOE + [("kv_lora_rank", "attention.kv_lora_rank")],
                          more=deepseek),
    "deepseek_v3": Family("deepseek2", MOE + [("kv_lora_rank", "attention.kv_lora_rank")],
                          more=deepseek),
    "bert": Family("bert", change=bert_base, more=bert, drop=("pooler.",)),
    "nomic_bert": Family("nomic-bert", change=bert_base, more=nomic,
                         drop=("cls.",))}
