#!/usr/bin/env python3
"""A training beside torch's: 20 steps of each optimizer on a small causal stack, loss by
loss and parameter by parameter. In bf16, beside torch's autocast and its f32, AdamW's
losses alone: they may be as far from those of f32 as three times torch's are.

usage: check-train.py MILLE [LAYERS] [f32|bf16]       needs torch, numpy and safetensors
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy
import torch
from safetensors.numpy import load_file

from trained_stack import stack

HIDDEN, HEADS, INNER, VOCABULARY, TOKENS, BATCH, STEPS = 64, 4, 256, 64, 16, 16, 20
MASK = (1 << 64) - 1


def mixed(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def order(seed, epoch, index, count):
    """mille_data_order"""
    half = 1
    while (count - 1) >> (2 * half):
        half += 1
    mask, key = (1 << half) - 1, mixed(seed) ^ epoch
    while True:
        left, right = index >> half, index & mask
        for turn in range(6):
            value = mixed((key + turn * 0x2545F4914F6CDD1D) & MASK) ^ right
            left, right = right, left ^ (mixed(value) & mask)
        index = left << half | right
        if index < count:
            return index


def spec(layers, train):
    return stack(layers, HIDDEN, INNER, HEADS, VOCABULARY, TOKENS, "causal",
                 {"scheme": "deepnorm", "seed": 3}, train)


class Model:
    def __init__(self, layers, weights):
        self.layers = layers
        self.p = {name: torch.nn.Parameter(torch.tensor(value))
                  for name, value in weights.items()}

    def linear(self, x, name):
        return torch.nn.functional.linear(x, self.p[name + ".weight"],
                                          self.p.get(name + ".bias"))

    def norm(self, x, name):
        return torch.nn.functional.layer_norm(
            x, (HIDDEN,), self.p[name + ".weight"], self.p[name + ".bias"], 1e-5)

    def loss(self, ids, labels):
        x = self.p["embed.weight"][ids] + self.p["position.weight"][: ids.shape[1]]
        alpha = (2 * self.layers) ** 0.25
        for layer in range(self.layers):
            name = "layers.%d." % layer
            q, k, v = (self.linear(x, name + "attn." + part)
                       .view(*ids.shape, HEADS, -1).transpose(1, 2) for part in "qkv")
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            y = self.linear(y.transpose(1, 2).reshape(x.shape), name + "attn.o")
            x = self.norm(alpha * x + y, name + "attn.out_norm")
            y = torch.nn.functional.gelu(self.linear(x, name + "ffn.in"))
            x = self.norm(alpha * x + self.linear(y, name + "ffn.out"), name + "ffn.out_norm")
        logits = torch.nn.functional.linear(x, self.p["head.weight"])
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def optimizer(train, parameters):
    kind, rate = train["optimizer"], train["rate"]
    if kind == "sgd":
        return torch.optim.SGD(parameters, rate, momentum=train.get("momentum", 0),
                               weight_decay=train.get("weight_decay", 0))
    made = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]
    return made(parameters, rate, weight_decay=train.get("weight_decay", 0))


def trained(mille, layers, train, folder, dtype="f32"):
    """Its losses, its tokens, and its parameters before and after."""
    path = os.path.join(folder, "spec.json")
    with open(path, "w") as file:
        json.dump(spec(layers, train), file)
    start, end, log, data = (os.path.join(folder, name) for name in
                             ("start.safetensors", "end.safetensors", "log", "data"))
    subprocess.check_call([mille, "init", path, "-o", start])
    tokens = numpy.random.default_rng(5).integers(0, VOCABULARY, 20001).astype("<u2")
    tokens.tofile(data)
    subprocess.check_call([mille, "train", path, "--data", data, "--tokens=%d" % TOKENS,
                           "--batch=%d" % BATCH, "--steps=%d" % STEPS, "--seed=9",
                           "--log", log, "--save", end, "--threads=2", "--dtype=" + dtype],
                          stdout=subprocess.DEVNULL)
    with open(log) as file:
        losses = [json.loads(line)["loss"] for line in file]
    return losses, tokens, load_file(start), load_file(end)


def by_torch(model, train, tokens, bf16=False):
    """The losses of the same steps."""
    steps = optimizer(train, list(model.p.values()))
    count, losses = (len(tokens) - 1) // TOKENS, []
    for step in range(STEPS):
        rows = [order(9, (step * BATCH + i) // count, (step * BATCH + i) % count, count)
                for i in range(BATCH)]
        cut = numpy.stack([tokens[r * TOKENS: r * TOKENS + TOKENS + 1]
                           for r in rows]).astype("int64")
        steps.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            loss = model.loss(torch.tensor(cut[:, :-1]), torch.tensor(cut[:, 1:]))
        loss.backward()
        if train.get("clip"):
            torch.nn.utils.clip_grad_norm_(list(model.p.values()), train["clip"])
        steps.step()
        losses.append(loss.item())
    return losses


def furthest(some, others):
    return max(abs(a - b) for a, b in zip(some, others))


def compare_narrow(mille, layers, train, folder):
    losses, tokens, start, _ = trained(mille, layers, train, folder, "bf16")
    wide = by_torch(Model(layers, start), train, tokens)
    narrow = by_torch(Model(layers, start), train, tokens, bf16=True)
    ours, theirs = furthest(losses, wide), furthest(narrow, wide)
    good = 0 < ours < 3 * theirs
    print("%2d layers %-5s in bf16: loss %.4f to %.4f, from f32's %.1e, torch's autocast "
          "%.1e%s" % (layers, train["optimizer"], losses[0], losses[-1], ours, theirs,
                      "" if good else "  FAILED"))
    return good


def compare(mille, layers, train, folder):
    losses, tokens, start, found = trained(mille, layers, train, folder)
    model = Model(layers, start)
    worst, apart = furthest(losses, by_torch(model, train, tokens)), 0
    for name, value in model.p.items():
        # A softmax does not change with the keys' bias: its gradient is rounding alone,
        # which Adam makes as large as any other.
        if name.endswith(".k.bias"):
            continue
        difference = numpy.abs(found[name] - value.detach().numpy()).max()
        moved = numpy.abs(value.detach().numpy() - start[name]).max()
        apart = max(apart, difference / max(moved, 1e-12))
    good = worst < 2e-4 and apart < 0.05 and math.isfinite(worst)
    print("%2d layers %-5s: loss %.4f to %.4f, losses apart %.1e, parameters %.1e of "
          "their way%s" % (layers, train["optimizer"], losses[0], losses[-1], worst, apart,
                           "" if good else "  FAILED"))
    return good


def main():
    layers = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    good, bf16 = True, sys.argv[3:] == ["bf16"]
    for train in ({"optimizer": "sgd", "rate": 0.1},
                  {"optimizer": "sgd", "rate": 0.05, "momentum": 0.9, "clip": 0.5},
                  {"optimizer": "adam", "rate": 1e-3},
                  {"optimizer": "adamw", "rate": 1e-3, "weight_decay": 0.1}):
        if bf16 and train["optimizer"] != "adamw":
            continue
        with tempfile.TemporaryDirectory() as folder:
            good &= (compare_narrow if bf16 else compare)(
                os.path.abspath(sys.argv[1]), layers, train, folder)
    sys.exit(not good)


main()
