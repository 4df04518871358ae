#!/usr/bin/env python3
"""Small models as GGUF files, each beside the Hugging Face folder that it is
the same as.

  gguf-models.py convert FOLDER OUT [--parts=N] [--absorbed]
  gguf-models.py types TYPE OUT

Writes OUT/model.gguf (or its parts) and OUT/folder. `convert` does what the
converters of the format do: other names, rows of queries and keys pair by pair,
1 added to some norms, experts stacked. The folder has what a GGUF can say of
FOLDER's config; norms that count from 1 are rounded so that 1 + w is an f32.
`types` makes a model whose matrices are random blocks of TYPE.
"""
import array
import json
import math
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gguf  # noqa: E402


class Tensor:
    def __init__(self, shape, numbers):
        self.shape, self.numbers = list(shape), array.array("f", numbers)
        assert len(self.numbers) == math.prod(shape)

    def rows(self, order):
        width = len(self.numbers) // self.shape[0]
        numbers = array.array("f")
        for row in order:
            numbers += self.numbers[row * width:(row + 1) * width]
        return Tensor([len(order)] + self.shape[1:], numbers)

    def transposed(self):
        """The last two dimensions exchanged."""
        *lead, m, n = self.shape
        numbers = array.array("f")
        for base in range(0, len(self.numbers), m * n):
            for j in range(n):
                numbers += self.numbers[base + j:base + m * n:n]
        return Tensor(lead + [n, m], numbers)

    def of(self, shape):
        return Tensor(shape, self.numbers)


def stacked(tensors):
    return Tensor([len(tensors)] + tensors[0].shape,
                  [x for tensor in tensors for x in tensor.numbers])


def joined(tensors):
    return Tensor([sum(t.shape[0] for t in tensors)] + tensors[0].shape[1:],
                  [x for tensor in tensors for x in tensor.numbers])


def load(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F32", name
        begin, end = entry["data_offsets"]
        numbers = array.array("f")
        numbers.frombytes(data[begin:end])
        tensors[name] = Tensor(entry["shape"], numbers)
    return tensors


def save(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        block = tensor.numbers.tobytes()
        header[name] = {"dtype": "F32", "shape": tensor.shape,
                        "data_offsets": [len(data), len(data) + len(block)]}
        data += block
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


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
        keys["rope.scaling.type"] = "yarn"
        keys["rope.scaling.factor"] = float(said["factor"])
        keys["rope.scaling.original_context_length"] = said["original_max_position_embeddings"]
        keys["rope.scaling.yarn_log_multiplier"] = 0.1 * said["mscale_all_dim"]


def plain_yarn(config):
    for key in ("beta_fast", "beta_slow"):
        (config.get("rope_scaling") or {}).pop(key, None)


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
                          change=plain_yarn, more=deepseek),
    "deepseek_v3": Family("deepseek2", MOE + [("kv_lora_rank", "attention.kv_lora_rank")],
                          more=deepseek),
    "bert": Family("bert", change=bert_base, more=bert, drop=("pooler.",)),
    "nomic_bert": Family("nomic-bert", change=bert_base, more=nomic,
                         drop=("cls.",))}


def gguf_name(name, family):
    for pattern, to in [*family.names, *NAMES]:
        if re.match(pattern, name):
            return re.sub(pattern, to, name, count=1)
    raise SystemExit(f"no name for {name}")


def pair_by_pair(tensor, heads):
    """Row i + r * half of each head goes to 2 i + r."""
    head = tensor.shape[0] // heads
    return tensor.rows([h * head + r * (head // 2) + i for h in range(heads)
                        for i in range(head // 2) for r in range(2)])


def gathered(tensors):
    """Parts of experts, and norms of heads, by the stack that they make."""
    stacks, rest = {}, {}
    words = {"w1": "gate", "w3": "up", "w2": "down"}
    for name, tensor in tensors.items():
        expert = re.match(r"model\.layers\.(\d+)\.(?:mlp|block_sparse_moe)\.experts"
                          r"\.(\d+)\.(?:(gate|up|down)_proj|(w[123]))\.weight$", name)
        norm = re.match(r"model\.layers\.(\d+)\.self_attn\.([qk])_layernorm\.norms"
                        r"\.(\d+)\.weight$", name)
        if expert:
            layer, number, part, word = expert.groups()
            key = f"blk.{layer}.ffn_{part or words[word]}_exps.weight"
        elif norm:
            layer, part, number = norm.groups()
            key = f"blk.{layer}.attn_{part}_norm.weight"
        else:
            rest[name] = tensor
            continue
        stacks.setdefault(key, {})[int(number)] = tensor
    return rest, {key: stacked([parts[i] for i in sorted(parts)])
                  for key, parts in stacks.items()}


def apart(name, tensor, layer, out):
    """Experts that files of families hold as one tensor; false for others."""
    if name.endswith("input_linear.weight"):
        experts, rows, width = tensor.shape
        flat = tensor.of([experts * rows, width])
        for half, part in enumerate(("gate", "up")):
            order = [e * rows + half * rows // 2 + i for e in range(experts)
                     for i in range(rows // 2)]
            out[f"blk.{layer}.ffn_{part}_exps.weight"] = flat.rows(order).of(
                [experts, rows // 2, width])
    elif name.endswith("output_linear.weight"):
        out[f"blk.{layer}.ffn_down_exps.weight"] = tensor
    elif name.endswith("experts.down_proj"):
        out[f"blk.{layer}.ffn_down_exps.weight"] = tensor.transposed()
    elif re.search(r"experts\.gate_up_proj(_bias)?$", name):
        bias = name.endswith("bias")
        tensor = tensor if bias else tensor.transposed()
        experts, rows = tensor.shape[:2]
        flat = tensor.of([experts * rows] + tensor.shape[2:])
        for second, part in enumerate(("gate", "up")):
            order = [e * rows + 2 * i + second for e in range(experts)
                     for i in range(rows // 2)]
            suffix = "bias" if bias else "weight"
            out[f"blk.{layer}.ffn_{part}_exps.{suffix}"] = flat.rows(order).of(
                [experts, rows // 2] + tensor.shape[2:])
    elif name.endswith("kv_b_proj.weight") and "--absorbed" in sys.argv:
        return tensor
    else:
        return False
    return True


def absorbed(config, tensor, layer, out):
    heads, nope = config["num_attention_heads"], config["qk_nope_head_dim"]
    value, rank = config["v_head_dim"], config["kv_lora_rank"]
    each = nope + value
    key = tensor.rows([h * each + i for h in range(heads) for i in range(nope)])
    out[f"blk.{layer}.attn_k_b.weight"] = key.of([heads, nope, rank]).transposed()
    out[f"blk.{layer}.attn_v_b.weight"] = tensor.rows(
        [h * each + nope + i for h in range(heads) for i in range(value)]).of(
        [heads, value, rank])


def converted(config, tensors, family):
    heads = config.get("num_attention_heads")
    rest, out = gathered(tensors)
    for name, tensor in rest.items():
        layer = re.search(r"layers\.(\d+)\.", name)
        done = apart(name, tensor, layer and layer.group(1), out)
        if isinstance(done, Tensor):
            absorbed(config, tensor, layer.group(1), out)
        if done:
            continue
        own = gguf_name(name, family)
        if family.architecture == "gpt2" and re.search(r"blk.*(attn|ffn)_[a-z]+\.weight", own) and "norm" not in own:
            tensor = tensor.transposed()
        if family.pairs and re.search(r"attn_[qk]\.", own):
            tensor = pair_by_pair(tensor, heads if "attn_q" in own
                                  else config.get("num_key_value_heads", heads))
        if family.offset and own.endswith("norm.weight"):
            tensor = Tensor(tensor.shape, [gguf.single(1 + x) for x in tensor.numbers])
        if own.endswith("shexp.weight") and tensor.shape[0] == 1:
            tensor = tensor.of(tensor.shape[1:])
        out[own] = tensor
    return out


def keys_of(config, family, tensors):
    keys = {"general.architecture": family.architecture,
            "general.name": "small", "general.file_type": 0}
    own = {}
    for words, key in [*KEYS, *family.keys]:
        for word in words.split():
            if config.get(word) is not None and not isinstance(config[word], list):
                own[key] = config[word]
    own["vocab_size"] = config["vocab_size"]
    for key, absent in family.absent.items():
        own.setdefault(key, absent)
    if family.more:
        family.more(config, own, tensors)
    for key, value in own.items():
        if key.endswith(("epsilon", "scale", "freq_base", "freq_base_swa",
                         "softcapping", "attn_factor")):
            value = float(value)
        keys[f"{family.architecture}.{key}"] = value
    keys["tokenizer.ggml.model"] = "gpt2"
    keys["tokenizer.ggml.tokens"] = [f"token {i}" for i in range(config["vocab_size"])]
    keys["tokenizer.ggml.token_type"] = [(gguf.I32, 1)[1]] * config["vocab_size"]
    return keys


def write_parts(out, keys, tensors, parts):
    names = list(tensors)
    for part in range(parts):
        own = {name: tensors[name] for name in names[part::parts]}
        split = {"split.no": (gguf.U16, part), "split.count": (gguf.U16, parts),
                 "split.tensors.count": (gguf.I32, len(names))}
        path = os.path.join(out, f"model-{part + 1:05}-of-{parts:05}.gguf")
        with open(path, "wb") as file:
            file.write(gguf.file({**keys, **split} if part == 0 else split, own))


def convert(source, out):
    os.makedirs(os.path.join(out, "folder"), exist_ok=True)
    with open(os.path.join(source, "config.json")) as file:
        config = json.load(file)
    family = FAMILIES[config["model_type"]]
    tensors = {name: tensor for name, tensor
               in load(os.path.join(source, "model.safetensors")).items()
               if not name.startswith(family.drop or ("\0",))}
    if family.change:
        family.change(config)
    if family.offset:
        for name, tensor in tensors.items():
            if name.endswith("norm.weight"):
                tensors[name] = Tensor(tensor.shape, [
                    gguf.single(1 + x) - 1 for x in tensor.numbers])
    with open(os.path.join(out, "folder", "config.json"), "w") as file:
        json.dump(config, file, indent=1)
    save(os.path.join(out, "folder", "model.safetensors"), tensors)
    made = converted(config, tensors, family)
    keys = keys_of(config, family, made)
    made = {name: (0, t.shape, t.numbers.tobytes()) for name, t in made.items()}
    parts = [int(word[8:]) for word in sys.argv if word.startswith("--parts=")]
    if parts:
        return write_parts(out, keys, made, parts[0])
    with open(os.path.join(out, "model.gguf"), "wb") as file:
        file.write(gguf.file(keys, made))


SMALL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama",
         "hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 1,
         "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 16,
         "rms_norm_eps": 1e-5, "max_position_embeddings": 64, "head_dim": 128,
         "rope_theta": 10000.0, "tie_word_embeddings": False}


def types(name, out):
    """Blocks of a type in every matrix, and the folder that they stand for."""
    os.makedirs(os.path.join(out, "folder"), exist_ok=True)
    layer = "model.layers.0."
    shapes = {"model.embed_tokens": [16, 256], "lm_head": [16, 256],
              layer + "self_attn.q_proj": [256, 256],
              layer + "self_attn.k_proj": [128, 256],
              layer + "self_attn.v_proj": [128, 256],
              layer + "self_attn.o_proj": [256, 256],
              layer + "mlp.gate_proj": [256, 256],
              layer + "mlp.up_proj": [256, 256],
              layer + "mlp.down_proj": [256, 256]}
    family, stored, plain = FAMILIES["llama"], {}, {}
    for seed, (stem, shape) in enumerate(shapes.items()):
        own = gguf_name(stem + ".weight", family)
        stored[own], numbers = gguf.random_tensor(name, shape, f"{name} {seed}")
        tensor = Tensor(shape, numbers)
        if re.search(r"attn_[qk]\.", own):  # the blocks are the paired rows
            head, heads = 128, shape[0] // 128
            tensor = tensor.rows([h * head + 2 * i + r for h in range(heads)
                                  for r in range(2) for i in range(head // 2)])
        plain[stem + ".weight"] = tensor
    for stem in ("model.norm", layer + "input_layernorm", layer + "post_attention_layernorm"):
        tensor = Tensor([256], [1 + i / 1024 for i in range(256)])
        plain[stem + ".weight"] = tensor
        stored[gguf_name(stem + ".weight", family)] = (0, [256], tensor.numbers.tobytes())
    with open(os.path.join(out, "folder", "config.json"), "w") as file:
        json.dump(SMALL, file)
    save(os.path.join(out, "folder", "model.safetensors"), plain)
    with open(os.path.join(out, "model.gguf"), "wb") as file:
        file.write(gguf.file(keys_of(SMALL, family, {}), stored))


def main(arguments):
    words = [word for word in arguments if not word.startswith("--")]
    if len(words) == 3 and words[0] == "convert":
        return convert(*words[1:])
    if len(words) == 3 and words[0] == "types":
        return types(*words[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
