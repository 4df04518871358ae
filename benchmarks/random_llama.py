#!/usr/bin/env python3
"""A llama of another shape with random weights, as a GGUF in one type of blocks, for
decode.py: vocabulary and text of a given file, the head tied to the embedding.

  random_llama.py FILE.gguf OUT.gguf [--type=Q8_0] [--layers=16] [--width=2048]
                  [--heads=32] [--key-heads=8] [--hidden=8192]

Needs gguf and numpy. The sizes that it has by itself are Llama 3.2 1B's.
"""
import argparse

import gguf
import numpy as np

TYPES = ["Q8_0", "Q4_0"]


def blocks(draw, kind, rows, columns):
    """Rows of blocks of 32: a scale in f16, then levels, each as likely as another."""
    size = gguf.GGML_QUANT_SIZES[kind][1]
    data = draw.integers(0, 256, (rows * columns // 32, size), np.uint8)
    scale = (1 / np.sqrt(columns) / (74 if kind.name == "Q8_0" else 4.6))
    data[:, :2] = np.frombuffer(np.float16(scale).tobytes(), np.uint8)
    return data.reshape(rows, columns // 32 * size)


def matrices(sizes, words):
    """Names, rows and columns."""
    key = sizes.width // sizes.heads * sizes.key_heads
    yield "token_embd", words, sizes.width
    for layer in range(sizes.layers):
        for name, rows, columns in [
                ("attn_q", sizes.width, sizes.width), ("attn_k", key, sizes.width),
                ("attn_v", key, sizes.width), ("attn_output", sizes.width, sizes.width),
                ("ffn_gate", sizes.hidden, sizes.width),
                ("ffn_up", sizes.hidden, sizes.width),
                ("ffn_down", sizes.width, sizes.hidden)]:
            yield "blk.%d.%s" % (layer, name), rows, columns


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("out")
    parser.add_argument("--type", default="Q8_0", choices=TYPES)
    for name, size in [("layers", 16), ("width", 2048), ("heads", 32),
                       ("key-heads", 8), ("hidden", 8192)]:
        parser.add_argument("--" + name, type=int, default=size)
    sizes = parser.parse_args()
    kind = gguf.GGMLQuantizationType[sizes.type]
    reader = gguf.GGUFReader(sizes.file)
    writer = gguf.GGUFWriter(sizes.out, "llama")
    own = {"block_count": sizes.layers, "embedding_length": sizes.width,
           "feed_forward_length": sizes.hidden, "attention.head_count": sizes.heads,
           "attention.head_count_kv": sizes.key_heads,
           "rope.dimension_count": sizes.width // sizes.heads}
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture",
                                                "general.file_type"):
            continue
        kinds = field.types
        writer.add_key_value(
            name, own.get(name.removeprefix("llama."), field.contents()), kinds[0],
            *kinds[1:2])
    writer.add_file_type(gguf.LlamaFileType["MOSTLY_" + sizes.type])
    draw = np.random.default_rng(1)
    words = len(reader.fields["tokenizer.ggml.tokens"].data)
    for name, rows, columns in matrices(sizes, words):
        writer.add_tensor(name + ".weight", blocks(draw, kind, rows, columns),
                          raw_dtype=kind)
    ones = np.ones(sizes.width, np.float32)
    for name in ["output_norm"] + [
            "blk.%d.%s_norm" % (layer, part) for layer in range(sizes.layers)
            for part in ("attn", "ffn")]:
        writer.add_tensor(name + ".weight", ones)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
