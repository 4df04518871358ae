#!/usr/bin/env python3
"""Whisper's weights as a Hugging Face folder, from a folder of CTranslate2.

usage: whisper.py FROM TO

FROM has model.bin (of faster-whisper, in f32 or f16), config.json and tokenizer.json.
TO gets config.json, tokenizer.json, tokenizer_config.json and model.safetensors, with the
numbers of model.bin as they are stored; queries, keys and values, which are one matrix
there, are three.
"""
import json
import os
import shutil
import struct
import sys

END = "<|endoftext|>"
DTYPES = {0: ("F32", 4), 4: ("F16", 2)}  # CTranslate2's numbers of types


class Reader:
    """A model.bin: a header, then name, dimensions, type and bytes of each."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = memoryview(file.read())
        self.at = 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    def text(self):
        length = self.take("H")
        self.at += length
        return bytes(self.data[self.at - length:self.at - 1]).decode()

    def variables(self):
        """name -> (dims, type, bytes)."""
        version, kind, _revision = self.take("I"), self.text(), self.take("I")
        if version != 6 or kind != "WhisperSpec":
            sys.exit(f"version {version} of {kind}, but 6 of WhisperSpec is read")
        found = {}
        for _ in range(self.take("I")):
            name, rank = self.text(), self.take("B")
            dims = [self.take("I") for _ in range(rank)]
            dtype, size = self.take("B"), self.take("I")
            found[name] = (dims, dtype, self.data[self.at:self.at + size])
            self.at += size
        return found


class Tensors:
    """What model.safetensors gets."""

    def __init__(self, variables):
        self.variables = variables
        self.tensors = {}

    def take(self, name, to, part=0, parts=1):
        """Rows of one of `parts` equal parts of a variable, under the name `to`."""
        dims, dtype, data = self.variables[name]
        if dtype not in DTYPES:
            sys.exit(f"{name} has numbers of type {dtype}, but f32 and f16 are read")
        rows, size = dims[0] // parts, len(data) // parts
        self.tensors[to] = (DTYPES[dtype][0], [rows] + dims[1:],
                            data[part * size:(part + 1) * size])

    def linear(self, name, to, part=0, parts=1, bias=True):
        self.take(name + "/weight", to + ".weight", part, parts)
        if bias:
            self.take(name + "/bias", to + ".bias", part, parts)

    def norm(self, name, to):
        self.take(name + "/gamma", to + ".weight")
        self.take(name + "/beta", to + ".bias")

    def attention(self, name, to, crosses):
        """The weights of queries, keys and values are one matrix, or keys' and values'."""
        self.linear(name + "/linear_0", to + ".q_proj", 0, 1 if crosses else 3)
        joined, first, parts = ("/linear_1", 0, 2) if crosses else ("/linear_0", 1, 3)
        self.linear(name + joined, to + ".k_proj", first, parts, bias=False)
        self.linear(name + joined, to + ".v_proj", first + 1, parts)
        self.linear(name + ("/linear_2" if crosses else "/linear_1"), to + ".out_proj")
        self.norm(name + "/layer_norm", to + "_layer_norm")

    def stack(self, side):
        layers = 0
        while f"{side}/layer_{layers}/ffn/linear_0/weight" in self.variables:
            name, to = f"{side}/layer_{layers}", f"model.{side}.layers.{layers}"
            self.attention(name + "/self_attention", to + ".self_attn", False)
            if side == "decoder":
                self.attention(name + "/attention", to + ".encoder_attn", True)
            self.linear(name + "/ffn/linear_0", to + ".fc1")
            self.linear(name + "/ffn/linear_1", to + ".fc2")
            self.norm(name + "/ffn/layer_norm", to + ".final_layer_norm")
            layers += 1
        self.take(f"{side}/position_encodings/encodings",
                  f"model.{side}.embed_positions.weight")
        self.norm(f"{side}/layer_norm", f"model.{side}.layer_norm")
        return layers

    def save(self, path):
        header, at = {}, 0
        for name, (dtype, shape, data) in self.tensors.items():
            header[name] = {"dtype": dtype, "shape": shape,
                            "data_offsets": [at, at + len(data)]}
            at += len(data)
        text = json.dumps(header).encode()
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for _dtype, _shape, data in self.tensors.values():
                file.write(data)


def config_of(tensors, heads, layers, rules, tokenizer):
    """config.json; the ids of the special tokens are the tokenizer's."""
    shape = {name: tensor[1] for name, tensor in tensors.items()}
    ids = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    end = ids[END]
    channels, bins, _ = shape["model.encoder.conv1.weight"]
    config = {
        "model_type": "whisper",
        "architectures": ["WhisperForConditionalGeneration"],
        "d_model": channels,
        "num_mel_bins": bins,
        "vocab_size": shape["model.decoder.embed_tokens.weight"][0],
        "max_source_positions": shape["model.encoder.embed_positions.weight"][0],
        "max_target_positions": shape["model.decoder.embed_positions.weight"][0],
        "activation_function": "gelu",
        "scale_embedding": False,
        "tie_word_embeddings": True,
        "is_encoder_decoder": True,
        "decoder_start_token_id": ids["<|startoftranscript|>"],
        "bos_token_id": end, "eos_token_id": end, "pad_token_id": end,
        "suppress_tokens": rules["suppress_ids"],
        "begin_suppress_tokens": rules["suppress_ids_begin"],
    }
    for side, count in layers.items():
        config[side + "_layers"] = count
        config[side + "_attention_heads"] = heads
        config[side + "_ffn_dim"] = shape[f"model.{side}.layers.0.fc1.weight"][0]
    return config


def main(source, folder):
    variables = Reader(os.path.join(source, "model.bin")).variables()
    tensors = Tensors(variables)
    for number in (1, 2):
        tensors.linear(f"encoder/conv{number}", f"model.encoder.conv{number}")
    layers = {side: tensors.stack(side) for side in ("encoder", "decoder")}
    tensors.take("decoder/embeddings/weight", "model.decoder.embed_tokens.weight")
    (heads,) = struct.unpack("<h", variables["decoder/num_heads"][2])
    with open(os.path.join(source, "config.json")) as file:
        rules = json.load(file)
    with open(os.path.join(source, "tokenizer.json")) as file:
        tokenizer = json.load(file)
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(source, "tokenizer.json"), folder)
    roles = {"bos_token": END, "eos_token": END}
    for name, content in (
            ("tokenizer_config.json", roles),
            ("config.json", config_of(tensors.tensors, heads, layers, rules, tokenizer))):
        with open(os.path.join(folder, name), "w") as file:
            json.dump(content, file, indent=1)
    tensors.save(os.path.join(folder, "model.safetensors"))
    print(f"{folder}: {len(tensors.tensors)} tensors")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
