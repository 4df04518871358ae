#!/usr/bin/env python3
"""ik_llama.cpp's decode of given ids: prompt and decode tokens a second, one line of
JSON for each context. Run by decode.py, in a Python that has ik-llama-cpp-python and
gguf.

  ik_llama.py FILE.gguf TYPE IDS THREADS TOKENS CONTEXT[,CONTEXT...]

TYPE is that of all matrices (f32, bf16, q8_0, q4_0): a file of it is made beside
FILE.gguf by gguf-py; q4_0 is repacked at load. `stored` is FILE.gguf itself.
"""
import json
import os
import struct
import sys
import time

import gguf
from ik_llama_cpp import _ctypes_api as llama

TYPES = {name.lower(): kind for name, kind in
         gguf.GGMLQuantizationType.__members__.items()}


def quantized(path, kind):
    """The file with all matrices in this type."""
    if kind == "stored":
        return path
    made = "%s.%s" % (path, kind)
    if os.path.exists(made):
        return made
    reader = gguf.GGUFReader(path)
    with open(path, "rb") as file:
        head = file.read(reader.tensors[0].field.offset)
    parts, at = [], 0
    for tensor in reader.tensors:
        wide = gguf.dequantize(tensor.data, tensor.tensor_type)
        own = TYPES[kind] if len(tensor.shape) > 1 else TYPES["f32"]
        data = gguf.quantize(wide, own).tobytes()
        name = tensor.name.encode()
        head += struct.pack("<Q", len(name)) + name
        head += struct.pack("<I%dQ" % len(tensor.shape), len(tensor.shape),
                            *map(int, tensor.shape))
        head += struct.pack("<IQ", own, at)
        parts.append(data + bytes(-len(data) % 32))
        at += len(parts[-1])
    with open(made + ".part", "wb") as file:
        file.write(head + bytes(-len(head) % 32) + b"".join(parts))
    os.rename(made + ".part", made)
    return made


class Decoder:
    def __init__(self, path, repack, threads, room):
        how = llama.llama_model_default_params()
        how.repack_tensors = how.use_thp = repack
        how.use_mmap = not repack
        self.model = llama.llama_model_load_from_file(path.encode(), how)
        how = llama.llama_context_default_params()
        how.n_ctx, how.n_batch, how.n_ubatch = room, room, 512
        how.n_threads = how.n_threads_batch = threads
        how.flash_attn = True
        self.context = llama.llama_init_from_model(self.model, how)
        self.batch = llama.llama_batch_init(room, 0, 1)

    def feed(self, ids, at):
        batch = self.batch
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, at + i, 1
            batch.seq_id[i][0], batch.logits[i] = 0, i == len(ids) - 1
        if llama.llama_decode(self.context, batch):
            sys.exit("llama.cpp does not decode")
        llama.llama_get_logits_ith(self.context, len(ids) - 1)

    def measure(self, ids, tokens):
        llama.llama_kv_cache_clear(self.context)
        began = time.perf_counter()
        self.feed(ids, 0)
        middle = time.perf_counter()
        for i in range(tokens):
            self.feed([ids[i]], len(ids) + i)
        end = time.perf_counter()
        return len(ids) / (middle - began), tokens / (end - middle)


def main():
    path, kind, ids, threads, tokens, contexts = sys.argv[1:]
    ids = [int(word) for word in ids.split(",")]
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    llama.llama_backend_init()
    contexts = [int(word) for word in contexts.split(",")]
    decoder = Decoder(quantized(path, kind), kind == "q4_0", int(threads),
                      max(contexts) + int(tokens))
    for context in contexts:
        prompt, decode = decoder.measure(ids[:context], int(tokens))
        print(json.dumps({"context": context, "prompt": prompt, "decode": decode}),
              flush=True)


if __name__ == "__main__":
    main()
