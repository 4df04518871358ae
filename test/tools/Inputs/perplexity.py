#!/usr/bin/env python3
"""Perplexity of a causal model on a text: e to the mean of -log p of each token after
those before it, in windows that begin anew.

  perplexity.py mille MILLE PACKAGE TEXT [WINDOWS [TOKENS]]   a package with its tokens;
                 its entry extend where it has one, whose keys and values are a state's
  perplexity.py peer FILE.gguf TYPE MILLE PACKAGE TEXT [WINDOWS [TOKENS]]
                 ik_llama.cpp on the same ids, its file quantised to TYPE by gguf-py
  perplexity.py llama FILE.gguf MADE.gguf FTYPE MILLE PACKAGE TEXT [WINDOWS [TOKENS]]
                 llama.cpp on the same ids, its file quantised by itself to MADE.gguf,
                 unless that is there; FTYPE as in MOSTLY_Q4_K_S, or MOSTLY_Q8_0+q8_0
                 where keys and values are kept in q8_0 too
  perplexity.py cosine FILE.gguf MADE.gguf FTYPE MILLE PACKAGE TEXT [WINDOWS [TOKENS]]
                 of each token's logits of that llama.cpp and of the package

Needs numpy; `peer` also gguf and ik-llama-cpp-python, `llama` and `cosine`
llama-cpp-python.
"""
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
if sys.argv[1:2] == ["peer"]:  # first: test/Inputs has a gguf.py of its own
    sys.path.insert(0, os.path.join(HERE, *[os.pardir] * 3, "benchmarks", "peers"))
    import ik_llama  # noqa: E402
sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, "Inputs"))
import tensors  # noqa: E402


def windows_of(mille, package, text, windows, tokens):
    with open(text, encoding="utf-8") as file:
        words = file.read(windows * tokens * 8)
    said = subprocess.run([mille, "tokens", package, "--encode=" + words],
                          check=True, capture_output=True, text=True).stdout
    ids = [int(word) for word in said.strip().split(",")]
    if len(ids) < windows * tokens:
        sys.exit("%s has %d tokens but %d are needed" % (text, len(ids),
                                                        windows * tokens))
    return [ids[at:at + tokens] for at in range(0, windows * tokens, tokens)]


def losses(logits, ids):
    """-log p of ids[1:], of logits [tokens, vocabulary]."""
    rows = logits[:-1].astype(numpy.float64)
    rows -= rows.max(axis=1, keepdims=True)
    sums = numpy.log(numpy.exp(rows).sum(axis=1))
    return sums - rows[numpy.arange(len(ids) - 1), ids[1:]]


def has_states(package):
    with open(glob.glob(os.path.join(package, "*.json"))[0]) as file:
        entries = json.load(file)["mille_package"]["entries"]
    return any(entry["name"] == "extend" for entry in entries)


def logits_of_mille(mille, package, ids):
    entry = ["--entry=extend", "--context=%d" % len(ids)] \
        if has_states(package) else []
    with tempfile.TemporaryDirectory() as folder:
        given, got = os.path.join(folder, "in"), os.path.join(folder, "out")
        tensors.save(given, {"input_ids": (
            "I64", [1, len(ids)], numpy.array(ids, numpy.int64).tobytes())})
        subprocess.run([mille, "run", package, "--inputs", given, "--outputs", got,
                        *entry], check=True)
        numbers = numpy.frombuffer(tensors.load(got)["logits"][2], numpy.float32)
        return numbers.reshape(len(ids), -1)


class Peer:
    def __init__(self, path, kind, room):
        self.llama = ik_llama.llama
        self.llama.llama_backend_init()
        self.decoder = ik_llama.Decoder(ik_llama.quantized(path, kind), False, 2, room)

    def logits(self, ids):
        llama, batch = self.llama, self.decoder.batch
        llama.llama_kv_cache_clear(self.decoder.context)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, i, 1
            batch.seq_id[i][0], batch.logits[i] = 0, 1
        if llama.llama_decode(self.decoder.context, batch):
            sys.exit("llama.cpp does not decode")
        vocabulary = llama.llama_vocab_n_tokens(
            llama.llama_model_get_vocab(self.decoder.model))
        return numpy.stack([numpy.ctypeslib.as_array(
            llama.llama_get_logits_ith(self.decoder.context, i),
            (vocabulary,)).copy() for i in range(len(ids))])


class Llama:
    def __init__(self, path, made, kind, room):
        import llama_cpp
        self.api = llama_cpp
        llama_cpp.llama_backend_init()
        kind, _, cache = kind.partition("+")
        kept = {} if not cache else {  # quantised values need its flash attention
            "flash_attn": True, **dict.fromkeys(
                ("type_k", "type_v"), getattr(llama_cpp, "GGML_TYPE_" + cache.upper()))}
        if not os.path.exists(made):
            how = llama_cpp.llama_model_quantize_default_params()
            how.ftype = getattr(llama_cpp, "LLAMA_FTYPE_" + kind)
            how.allow_requantize = how.pure = True
            if llama_cpp.llama_model_quantize(path.encode(), made.encode(), how):
                sys.exit("llama.cpp does not write " + made)
        self.model = llama_cpp.Llama(made, n_ctx=room, n_batch=room, n_ubatch=room,
                                     n_threads=1, n_threads_batch=1, logits_all=True,
                                     verbose=False, **kept)

    def logits(self, ids):
        self.model.reset()
        self.model.eval(ids)
        return numpy.array(self.model.scores[:len(ids)])


def cosines(one, other):
    """Of each row."""
    one, other = one.astype(numpy.float64), other.astype(numpy.float64)
    return (one * other).sum(1) / numpy.sqrt((one * one).sum(1) * (other * other).sum(1))


PEERS = {"peer": (Peer, 2), "llama": (Llama, 3), "cosine": (Llama, 3), "mille": (None, 0)}


def main(words):
    kind, own = PEERS.get(words[0] if words else "", (None, None))
    if own is None or len(words) < own + 4:
        print(__doc__, file=sys.stderr)
        return 2
    peer, (mille, package, text, *sizes) = words[1:own + 1], words[own + 1:]
    windows, tokens = [*map(int, sizes), *(4, 512)[len(sizes):]]
    cut = windows_of(mille, package, text, windows, tokens)
    of = kind(*peer, tokens).logits if kind else \
        lambda ids: logits_of_mille(mille, package, ids)
    if words[0] == "cosine":
        near = numpy.concatenate([cosines(of(ids), logits_of_mille(mille, package, ids))
                                  for ids in cut])
        print("cosine of logits: least %.6f, mean %.6f of %d tokens"
              % (near.min(), near.mean(), len(near)))
        return 0
    every = numpy.concatenate([losses(of(ids), ids) for ids in cut])
    print("%.3f of %d tokens" % (math.exp(every.mean()), len(every)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
