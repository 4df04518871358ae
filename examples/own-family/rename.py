#!/usr/bin/env python3
"""rename.py FAMILY FROM.safetensors TO.safetensors: a checkpoint of the Hub with the
names that a native spec has. Copies bytes; only the header is written anew.

The tables below are all that is known of the two families.
"""
import json
import re
import struct
import sys

NAMES = {
    "llama": [
        (r"model\.embed_tokens\.", "embed."),
        (r"model\.layers\.(\d+)\.input_layernorm\.", r"layers.\1.attn.in_norm."),
        (r"model\.layers\.(\d+)\.self_attn\.([qkvo])_proj\.", r"layers.\1.attn.\2."),
        (r"model\.layers\.(\d+)\.post_attention_layernorm\.", r"layers.\1.ffn.in_norm."),
        (r"model\.layers\.(\d+)\.mlp\.gate_proj\.", r"layers.\1.ffn.gate."),
        (r"model\.layers\.(\d+)\.mlp\.up_proj\.", r"layers.\1.ffn.in."),
        (r"model\.layers\.(\d+)\.mlp\.down_proj\.", r"layers.\1.ffn.out."),
        (r"model\.norm\.", "final_norm."),
        (r"lm_head\.", "head.")],
    "bert": [
        (r"bert\.embeddings\.word_embeddings\.", "embed."),
        (r"bert\.embeddings\.position_embeddings\.", "position."),
        (r"bert\.embeddings\.token_type_embeddings\.", "token_type."),
        (r"bert\.embeddings\.LayerNorm\.", "embed_norm."),
        (r"bert\.encoder\.layer\.(\d+)\.attention\.self\.([qkv])(?:uery|ey|alue)\.",
         r"layers.\1.attn.\2."),
        (r"bert\.encoder\.layer\.(\d+)\.attention\.output\.dense\.", r"layers.\1.attn.o."),
        (r"bert\.encoder\.layer\.(\d+)\.attention\.output\.LayerNorm\.",
         r"layers.\1.attn.out_norm."),
        (r"bert\.encoder\.layer\.(\d+)\.intermediate\.dense\.", r"layers.\1.ffn.in."),
        (r"bert\.encoder\.layer\.(\d+)\.output\.dense\.", r"layers.\1.ffn.out."),
        (r"bert\.encoder\.layer\.(\d+)\.output\.LayerNorm\.", r"layers.\1.ffn.out_norm."),
        (r"cls\.predictions\.transform\.dense\.", "head_transform."),
        (r"cls\.predictions\.transform\.LayerNorm\.", "head_transform.norm."),
        (r"cls\.predictions\.bias", "head.bias")],
}


def renamed(name, table):
    for pattern, words in table:
        new, count = re.subn("^" + pattern, words, name)
        if count:
            return new
    sys.exit("rename: '%s' is in no row of the table" % name)


def main():
    family, source, target = sys.argv[1:]
    with open(source, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__", None)
    header = {renamed(name, NAMES[family]): entry for name, entry in header.items()}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(target, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


main()
