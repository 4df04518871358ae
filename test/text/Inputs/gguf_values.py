"""The tokenizer of a GGUF as write-gguf-tokens takes it, by hand where `gguf` is
installed: gguf_values.py FILE.gguf > VALUES"""
import sys

import gguf

IDS = ["bos", "eos", "eot", "unknown", "seperator", "padding", "cls", "mask"]
FLAGS = ["add_bos_token", "add_eos_token", "add_space_prefix",
         "remove_extra_whitespaces"]


def main():
    fields = gguf.GGUFReader(sys.argv[1]).fields

    def value(name, otherwise=None):
        field = fields.get("tokenizer." + name)
        return field.contents() if field else otherwise

    def raw(name):  # strings as their bytes
        field = fields.get("tokenizer." + name)
        return [bytes(field.parts[i]) for i in field.data] if field else []

    print("model", value("ggml.model"))
    print("pre", value("ggml.pre", ""))
    for name in IDS:
        if value(f"ggml.{name}_token_id") is not None:
            print("id", name + "_token_id", value(f"ggml.{name}_token_id"))
    for name in FLAGS:
        if value("ggml." + name) is not None:
            print("flag", name, int(value("ggml." + name)))
    if value("chat_template"):
        print("template", value("chat_template").encode().hex())
    if value("ggml.precompiled_charsmap"):
        print("charsmap", bytes(b & 255 for b in value("ggml.precompiled_charsmap")).hex())
    tokens = raw("ggml.tokens")
    types = value("ggml.token_type", [1] * len(tokens))
    scores = value("ggml.scores", [0] * len(tokens))
    for token, kind, score in zip(tokens, types, scores):
        print("token", kind, repr(float(score)), token.hex())
    for merge in raw("ggml.merges"):
        print("merge", merge.hex())


if __name__ == "__main__":
    main()
