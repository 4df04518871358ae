#!/usr/bin/env python3
"""Small models as GGUF files, each beside the Hugging Face folder that it is
the same as.

  gguf-models.py convert FOLDER OUT [--parts=N] [--absorbed] [--experts=TYPE]
                         [--family=NAME]
  gguf-models.py types TYPE[+TYPE...] OUT [--unknown]

Writes OUT/model.gguf (or its parts) and OUT/folder. `convert` does what the
converters of the format do: other names, rows of queries and keys pair by pair,
1 added to some norms, experts stacked. The folder has what a GGUF can say of
FOLDER's config; norms that count from 1 are rounded so that 1 + w is an f32.
With `--experts` those of the GGUF, not of the folder, are of 32 hidden channels
and in random blocks of TYPE. `--family`: as this architecture, not as the config's.
`types` makes a model whose matrices are random blocks of TYPE, a layer of each
(what is in no layer is of the first); `--unknown` adds a key that nobody knows.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                *[os.pardir] * 3, "Inputs"))
import gguf  # noqa: E402
from gguf_families import FAMILIES, KEYS, NAMES  # noqa: E402
from gguf_tensors import Tensor, load, save, stacked  # noqa: E402


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
    if family.architecture == "gpt2":  # converters write the tied head, too
        out["output.weight"] = out["token_embd.weight"]
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
                         "softcapping", "attn_factor", "_multiplier")):
            value = float(value)
        keys[f"{family.architecture}.{key}"] = value
    # SentencePiece: three special tokens, a space, and letters from "a" on.
    count = config["vocab_size"]
    tokens = ["<unk>", "<s>", "</s>", "\u2581"]
    tokens += [chr(ord("a") + i) for i in range(count)]
    keys["tokenizer.ggml.model"] = "llama"
    keys["tokenizer.ggml.tokens"] = tokens[:count]
    keys["tokenizer.ggml.scores"] = [-float(i) for i in range(count)]
    keys["tokenizer.ggml.token_type"] = ([2, 3, 3] + [1] * count)[:count]
    keys["tokenizer.chat_template"] = (
        "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + "
        "message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
    for i, role in enumerate(["unknown", "bos", "eos"]):
        keys[f"tokenizer.ggml.{role}_token_id"] = i
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


def expert_blocks(config, family, keys, tensors, of):
    width = config["intermediate_size"]
    for name, (_, shape, _) in list(tensors.items()):
        if "_exps." not in name:
            continue
        shape = [32 if extent == width else extent for extent in shape]
        kind = "F32" if name.endswith("bias") else of
        tensors[name], _ = gguf.random_tensor(kind, shape, name)
    for key, value in keys.items():
        if value == width and key.endswith("feed_forward_length"):
            keys[key] = 32


def convert(source, out):
    os.makedirs(os.path.join(out, "folder"), exist_ok=True)
    with open(os.path.join(source, "config.json")) as file:
        config = json.load(file)
    named = [word[9:] for word in sys.argv if word.startswith("--family=")]
    family = FAMILIES[(named or [config["model_type"]])[0]]
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
    for word in sys.argv:
        if word.startswith("--experts="):
            expert_blocks(config, family, keys, made, word[10:])
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
    names = name.split("+")
    config = {**SMALL, "num_hidden_layers": len(names)}
    layers = [f"model.layers.{number}." for number in range(len(names))]
    shapes = {"model.embed_tokens": (names[0], [16, 256]),
              "lm_head": (names[0], [16, 256])}
    for layer, of in zip(layers, names):
        for stem, rows in (("self_attn.q_proj", 256), ("self_attn.k_proj", 128),
                           ("self_attn.v_proj", 128), ("self_attn.o_proj", 256),
                           ("mlp.gate_proj", 256), ("mlp.up_proj", 256),
                           ("mlp.down_proj", 256)):
            shapes[layer + stem] = of, [rows, 256]
    family, stored, plain = FAMILIES["llama"], {}, {}
    for seed, (stem, (of, shape)) in enumerate(shapes.items()):
        own = gguf_name(stem + ".weight", family)
        stored[own], numbers = gguf.random_tensor(of, shape, f"{of} {seed}")
        tensor = Tensor(shape, numbers)
        if re.search(r"attn_[qk]\.", own):  # the blocks are the paired rows
            head, heads = 128, shape[0] // 128
            tensor = tensor.rows([h * head + 2 * i + r for h in range(heads)
                                  for r in range(2) for i in range(head // 2)])
        plain[stem + ".weight"] = tensor
    norms = [layer + stem for layer in layers
             for stem in ("input_layernorm", "post_attention_layernorm")]
    for stem in ("model.norm", *norms):
        tensor = Tensor([256], [1 + i / 1024 for i in range(256)])
        plain[stem + ".weight"] = tensor
        stored[gguf_name(stem + ".weight", family)] = (0, [256], tensor.numbers.tobytes())
    with open(os.path.join(out, "folder", "config.json"), "w") as file:
        json.dump(config, file)
    save(os.path.join(out, "folder", "model.safetensors"), plain)
    with open(os.path.join(out, "model.gguf"), "wb") as file:
        keys = keys_of(config, family, {})
        if "--unknown" in sys.argv:
            keys["llama.attention.new"] = 0.5
        file.write(gguf.file(keys, stored))


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
