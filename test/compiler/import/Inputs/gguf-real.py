#!/usr/bin/env python3
"""Logits of a real llama GGUF by two others, against a run of mille.

  gguf-real.py compare FILE.gguf LOGITS.safetensors IDS PEER.gguf
  gguf-real.py peer PEER.gguf LOGITS.safetensors IDS
  gguf-real.py rounding FILE.gguf LOGITS.safetensors IDS
  gguf-real.py widen FILE.gguf WIDE.gguf

IDS with commas between. The first other is a forward pass of a llama in float64,
by numpy, on what gguf-py (PyPI) decodes; the second is a llama.cpp on PEER.gguf,
and alone for other architectures. `rounding` wants a run in f32 to be as near to
float64, token by token, as numpy's float32 is, within a factor. `widen`
writes the same model in F32, since a llama.cpp rounds activations to 8 bits
where they meet blocks.
"""
import os
import struct
import sys

import gguf
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                *[os.pardir] * 3, "Inputs"))


def key(reader, name):
    return reader.fields["llama." + name].contents()


def rms(x, weight, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def turned(x, base):
    """Pairs of neighbours, as the file's rows are."""
    tokens, heads, size = x.shape
    angle = np.arange(tokens)[:, None] * base ** (-np.arange(0, size, 2) / size)
    cos, sin = (of(angle)[:, None].astype(x.dtype) for of in (np.cos, np.sin))
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def logits(path, ids, number=np.float64):
    reader = gguf.GGUFReader(path)
    weights = {t.name: t for t in reader.tensors}

    def w(name):
        t = weights[name + ".weight"]
        return gguf.dequantize(t.data, t.tensor_type).astype(number)

    eps = number(key(reader, "attention.layer_norm_rms_epsilon"))
    heads, kv = key(reader, "attention.head_count"), key(reader, "attention.head_count_kv")
    base = key(reader, "rope.freq_base")
    words = w("token_embd")
    x, n = words[ids], len(ids)
    hidden = np.triu(np.full((n, n), -np.inf, number), 1)
    for layer in range(key(reader, "block_count")):
        p = f"blk.{layer}."
        u = rms(x, w(p + "attn_norm"), eps)
        q, k, v = (u @ w(p + f"attn_{part}").T for part in "qkv")
        q = turned(q.reshape(n, heads, -1), base)
        k = turned(k.reshape(n, kv, -1), base).repeat(heads // kv, 1)
        v = v.reshape(n, kv, -1).repeat(heads // kv, 1)
        score = np.einsum("ihd,jhd->hij", q, k) / number(np.sqrt(q.shape[-1])) + hidden
        share = np.exp(score - score.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        o = np.einsum("hij,jhd->ihd", share, v).reshape(n, -1)
        x = x + o @ w(p + "attn_output").T
        u = rms(x, w(p + "ffn_norm"), eps)
        gate = u @ w(p + "ffn_gate").T
        up = u @ w(p + "ffn_up").T
        x = x + (gate / (1 + np.exp(-gate)) * up) @ w(p + "ffn_down").T
    x = rms(x, w("output_norm"), eps)
    return x @ (w("output") if "output.weight" in weights else words).T


def read(path, name):
    import json
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        entry, data = json.loads(file.read(length))[name], file.read()
    begin, end = entry["data_offsets"]
    return np.frombuffer(data[begin:end], np.float32).reshape(
        entry["shape"][1:]).astype(np.float64)


def compare(name, ours, theirs, least):
    cosine = ((ours * theirs).sum(-1) / np.linalg.norm(ours, axis=-1)
              / np.linalg.norm(theirs, axis=-1)).min()
    same = int((ours.argmax(-1) == theirs.argmax(-1)).sum())
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    print(f"{name}: least cosine {cosine:.8f}, largest error {error:.2g} of the "
          f"largest logit, {same} of {len(ours)} first words the same")
    return cosine >= least


def rounding(path, ours, ids):
    """Whether each token is as far from float64 as four times numpy's float32."""
    exact, single = logits(path, ids), logits(path, ids, np.float32)
    mine, theirs = (np.abs(one - exact).max(-1) / np.abs(exact).max()
                    for one in (ours, single))
    worst = (mine / theirs).max()
    print(f"f32: largest error {mine.max():.2g} of the largest logit, numpy's float32 "
          f"{theirs.max():.2g}; of one token {worst:.2g} times numpy's")
    return worst <= 4


def widen(path, wide):
    reader = gguf.GGUFReader(path)
    with open(path, "rb") as file:
        head = file.read(reader.tensors[0].field.offset)
    at = 0
    for t in reader.tensors:
        name = t.name.encode()
        head += struct.pack("<Q", len(name)) + name
        head += struct.pack(f"<I{len(t.shape)}Q", len(t.shape), *map(int, t.shape))
        head += struct.pack("<IQ", 0, at)
        at += -(-4 * int(np.prod(t.shape)) // 32) * 32
    with open(wide, "wb") as file:
        file.write(head + b"\0" * (-len(head) % 32))
        for t in reader.tensors:
            data = gguf.dequantize(t.data, t.tensor_type).astype("<f4").tobytes()
            file.write(data + b"\0" * (-len(data) % 32))


if sys.argv[1] == "widen":
    sys.exit(widen(*sys.argv[2:]))
path, result, words, *peers = sys.argv[2:]
ids = [int(word) for word in words.split(",")]
mine, fine = read(result, "logits"), True
if sys.argv[1] == "rounding":
    sys.exit(0 if rounding(path, mine, ids) else 1)
if sys.argv[1] == "compare":
    fine = compare("numpy on gguf-py's numbers", mine, logits(path, ids),
                   0.99999999)
import llamacpp  # only here: `widen` needs none
for peer in peers or [path]:
    fine &= compare("llama.cpp on F32", mine, llamacpp.Model(peer).logits(ids), 0.9999)
sys.exit(0 if fine else 1)
