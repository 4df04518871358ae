"""Writes a Hugging Face folder of BERT's shape with random weights.

Biases, norm weights and norm biases are away from their defaults, so that a
runtime that drops one is seen. Must not time anything. Needs numpy.
"""
import json
import os
import struct

import numpy as np

BASE = {"layers": 12, "hidden": 768, "ffn": 3072, "heads": 12, "vocab": 30522,
        "positions": 512}


def tensors(shape, seed):
    random = np.random.default_rng(seed)
    hidden, ffn = shape["hidden"], shape["ffn"]
    made = {}

    def weight(name, *extents, mean=0.0):
        made[name] = (mean + 0.02 * random.standard_normal(
            extents, dtype=np.float32)).astype(np.float32)

    def linear(name, outputs, inputs):
        weight(name + ".weight", outputs, inputs)
        weight(name + ".bias", outputs)

    def norm(name):
        weight(name + ".weight", hidden, mean=1.0)
        weight(name + ".bias", hidden)

    weight("embeddings.word_embeddings.weight", shape["vocab"], hidden)
    weight("embeddings.position_embeddings.weight", shape["positions"], hidden)
    weight("embeddings.token_type_embeddings.weight", 2, hidden)
    norm("embeddings.LayerNorm")
    for layer in range(shape["layers"]):
        at = "encoder.layer.%d." % layer
        for name in ["query", "key", "value"]:
            linear(at + "attention.self." + name, hidden, hidden)
        linear(at + "attention.output.dense", hidden, hidden)
        norm(at + "attention.output.LayerNorm")
        linear(at + "intermediate.dense", ffn, hidden)
        linear(at + "output.dense", hidden, ffn)
        norm(at + "output.LayerNorm")
    linear("pooler.dense", hidden, hidden)
    return made


def config(shape):
    return {
        "architectures": ["BertModel"], "model_type": "bert",
        "hidden_size": shape["hidden"], "num_hidden_layers": shape["layers"],
        "num_attention_heads": shape["heads"],
        "intermediate_size": shape["ffn"], "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
        "layer_norm_eps": 1e-12, "max_position_embeddings": shape["positions"],
        "type_vocab_size": 2, "vocab_size": shape["vocab"], "pad_token_id": 0,
        "initializer_range": 0.02, "torch_dtype": "float32"}


def write_tensors(path, named):
    """safetensors, in the order given."""
    types = {"float32": "F32", "int32": "I32"}
    header, at = {}, 0
    for name, array in named.items():
        header[name] = {"dtype": types[str(array.dtype)],
                        "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in named.values():
            array.tofile(file)


def read_tensor(path, name):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        entry = json.loads(file.read(length))[name]
        start, end = entry["data_offsets"]
        file.seek(8 + length + start)
        numbers = np.frombuffer(file.read(end - start), dtype=np.float32)
    return numbers.reshape(entry["shape"])


def write_folder(folder, shape=BASE, seed=0):
    """Returns the tensors; writes only what is not there."""
    made = tensors(shape, seed)
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(os.path.join(folder, "config.json")):
        write_tensors(os.path.join(folder, "model.safetensors"), made)
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump(config(shape), file, indent=1)
    return made
