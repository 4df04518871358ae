"""The weights of an encoder by one set of names, whichever file holds them: a
Hugging Face folder of BERT's shape, or a native spec with its safetensors file
beside it. Peers build their models from this. Needs numpy. Must not run anything.
"""
import json
import os
import struct

import numpy as np

LINEARS = ["query", "key", "value", "out", "up", "down"]
NORMS = ["attention_norm", "ffn_norm"]


class Tensors:
    """A safetensors file of f32, mapped."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            self.entries = json.loads(file.read(length))
        self.start = 8 + length

    def __getitem__(self, name):
        entry = self.entries[name]
        if entry["dtype"] != "F32":
            raise ValueError("%s: %s is %s but peers read F32" % (
                self.path, name, entry["dtype"]))
        return np.memmap(self.path, np.float32, "r",
                         self.start + entry["data_offsets"][0],
                         tuple(entry["shape"]))


class Encoder:
    """Post-norm: x = norm(alpha * x + branch(x)), attention then feed-forward."""

    def __init__(self, path):
        if os.path.isdir(path):
            self._read_bert(path)
        else:
            self._read_spec(path)

    def _read_bert(self, folder):
        with open(os.path.join(folder, "config.json")) as file:
            config = json.load(file)
        self.tensors = Tensors(os.path.join(folder, "model.safetensors"))
        self.layers = config["num_hidden_layers"]
        self.hidden = config["hidden_size"]
        self.heads = config["num_attention_heads"]
        self.vocabulary = config["vocab_size"]
        self.eps = config["layer_norm_eps"]
        self.alpha = 1.0
        at = "embeddings."
        self.words = self.tensors[at + "word_embeddings.weight"]
        # Token type 0 everywhere is part of the positions.
        self.positions = (self.tensors[at + "position_embeddings.weight"]
                          + self.tensors[at + "token_type_embeddings.weight"][0])
        self.norm = tuple(self.tensors[at + "LayerNorm." + end]
                          for end in ["weight", "bias"])
        self.names = dict(zip(LINEARS + NORMS, [
            "attention.self.query", "attention.self.key", "attention.self.value",
            "attention.output.dense", "intermediate.dense", "output.dense",
            "attention.output.LayerNorm", "output.LayerNorm"]))
        self.prefix = "encoder.layer.%d."

    def _read_spec(self, path):
        with open(path) as file:
            spec = json.load(file)
        self.tensors = Tensors(path.replace(".json", ".safetensors"))
        self.layers, self.hidden = spec["layers"], spec["hidden_size"]
        self.vocabulary = spec["vocab_size"]
        attention = spec["units"][0]
        self.heads = attention["branches"][0]["heads"]
        self.eps = attention["out_norm"]["eps"]
        self.alpha = attention["skip_scale"]["value"]
        self.words, self.positions, self.norm = self.tensors["embed.weight"], None, None
        self.names = dict(zip(LINEARS + NORMS, [
            "attn.q", "attn.k", "attn.v", "attn.o", "ffn.in", "ffn.out",
            "attn.out_norm", "ffn.out_norm"]))
        self.prefix = "layers.%d."

    def layer(self, index):
        """name -> (weight, bias); a linear's weight is [outputs, inputs]."""
        at = self.prefix % index
        return {name: (self.tensors[at + file_name + ".weight"],
                       self.tensors[at + file_name + ".bias"])
                for name, file_name in self.names.items()}
