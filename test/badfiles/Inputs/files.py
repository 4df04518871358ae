"""Makes small models and breaks them: the files behind test/badfiles.

Standard library only; nothing of mille is used to write what mille must refuse.
"""
import json
import os
import struct


def write(path, content):
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def packed(header, data=b"", length=None):
    """A safetensors file: header as text or as an object."""
    if not isinstance(header, (str, bytes)):
        header = json.dumps(header)
    if isinstance(header, str):
        header = header.encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def tensors(shapes, dtype="F32", width=4):
    """A file of zeros with these names and shapes."""
    header, offset = {}, 0
    for name, shape in shapes.items():
        size = width
        for extent in shape:
            size *= extent
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [offset, offset + size]}
        offset += size
    return packed(header, bytes(offset))


def norm():
    return {"kind": "layer_norm", "affine": "weight", "bias": True, "eps": 1e-5}


def spec(**changes):
    """A one-layer encoder of two units, as a native spec."""
    model = {
        "name": "small", "layers": 1, "hidden_size": 8, "vocab_size": 16,
        "embedding": {"scale": 1.0, "position": "learned", "position_size": 12},
        "units": [
            {"name": "attn", "out_norm": norm(),
             "branches": [{"name": "attn", "kind": "attention", "heads": 2,
                           "kv_heads": 1, "head_dim": 4}]},
            {"name": "ffn", "out_norm": norm(),
             "branches": [{"name": "ffn", "kind": "ffn",
                           "intermediate_size": 12, "act": "relu"}]},
        ],
    }
    model.update(changes)
    return model


SHAPES = {
    "embed.weight": [16, 8], "position.weight": [12, 8],
    "layers.0.attn.q.weight": [8, 8], "layers.0.attn.k.weight": [4, 8],
    "layers.0.attn.v.weight": [4, 8], "layers.0.attn.o.weight": [8, 8],
    "layers.0.attn.out_norm.weight": [8], "layers.0.attn.out_norm.bias": [8],
    "layers.0.ffn.in.weight": [12, 8], "layers.0.ffn.out.weight": [8, 12],
    "layers.0.ffn.out_norm.weight": [8], "layers.0.ffn.out_norm.bias": [8],
}


def shapes(**changes):
    """SHAPES with some changed; None takes one away. `__` stands for `.`."""
    changed = dict(SHAPES)
    for key, shape in changes.items():
        key = key.replace("__", ".")
        changed.pop(key, None)
        if shape is not None:
            changed[key] = shape
    return changed


def native(folder, model=None, weights=None):
    """spec.json, and beside it model.safetensors unless weights is False."""
    if not isinstance(model, (str, bytes)):
        model = json.dumps(model or spec(), indent=1)
    write(os.path.join(folder, "spec.json"), model)
    if weights is not False:
        write(os.path.join(folder, "model.safetensors"),
              tensors(SHAPES) if weights is None else weights)
    return os.path.join(folder, "spec.json")


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"],
    "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
    "num_key_value_heads": 1, "intermediate_size": 12, "vocab_size": 16,
}
LAYER = "model.layers.0."
LLAMA_SHAPES = {
    "model.embed_tokens.weight": [16, 8], "model.norm.weight": [8],
    "lm_head.weight": [16, 8],
    LAYER + "input_layernorm.weight": [8],
    LAYER + "post_attention_layernorm.weight": [8],
    LAYER + "self_attn.q_proj.weight": [8, 8],
    LAYER + "self_attn.k_proj.weight": [4, 8],
    LAYER + "self_attn.v_proj.weight": [4, 8],
    LAYER + "self_attn.o_proj.weight": [8, 8],
    LAYER + "mlp.gate_proj.weight": [12, 8],
    LAYER + "mlp.up_proj.weight": [12, 8],
    LAYER + "mlp.down_proj.weight": [8, 12],
}
BERT = {
    "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 8,
    "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12,
    "vocab_size": 16, "max_position_embeddings": 12,
}


def hub(folder, config, weights=None):
    """config.json, and model.safetensors unless weights is False."""
    if not isinstance(config, (str, bytes)):
        config = json.dumps(config, indent=1)
    write(os.path.join(folder, "config.json"), config)
    if weights is not False:
        write(os.path.join(folder, "model.safetensors"),
              tensors(LLAMA_SHAPES) if weights is None else weights)
    return folder


def sharded(folder, weight_map, shards):
    """A llama in shards: the index, and the files that are really there."""
    hub(folder, LLAMA, weights=False)
    index = weight_map if isinstance(weight_map, str) else json.dumps(
        {"weight_map": weight_map}, indent=1)
    write(os.path.join(folder, "model.safetensors.index.json"), index)
    for name, shard in shards.items():
        write(os.path.join(folder, name), shard)
    return folder
