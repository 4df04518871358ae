#!/usr/bin/env python3
"""A training beside torch's: 20 steps of each optimizer on a small causal stack, loss by
loss and parameter by parameter. In bf16, beside torch's autocast and its f32, AdamW's
losses alone: they may be as far from those of f32 as three times torch's are.

usage: check-train.py MILLE [LAYERS] [f32|bf16]       needs torch, numpy and safetensors
       check-train.py MILLE answers SPEC DATA LOG      torch's losses of such a SPEC, as
                                                       a log: test/tools/train-torch.test
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
    def __init__(self, layers, weights, alpha=None):
        self.layers = layers
        self.alpha = (2 * layers) ** 0.25 if alpha is None else alpha
        self.p = {name: torch.nn.Parameter(torch.tensor(value))
                  for name, value in weights.items()}

    def linear(self, x, name):
        return torch.nn.functional.linear(x, self.p[name + ".weight"],
                                          self.p.get(name + ".bias"))

    def norm(self, x, name):
        return torch.nn.functional.layer_norm(
            x, (HIDDEN,), self.p[name + ".weight"], self.p[name + ".bias"], 1e-5)

    def logits(self, ids):
        x = self.p["embed.weight"][ids] + self.p["position.weight"][: ids.shape[1]]
        alpha = self.alpha
        for layer in range(self.layers):
            name = "layers.%d." % layer
            q, k, v = (self.linear(x, name + "attn." + part)
                       .view(*ids.shape, HEADS, -1).transpose(1, 2) for part in "qkv")
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            y = self.linear(y.transpose(1, 2).reshape(x.shape), name + "attn.o")
            x = self.norm(alpha * x + y, name + "attn.out_norm")
            y = torch.nn.functional.gelu(self.linear(x, name + "ffn.in"))
            x = self.norm(alpha * x + self.linear(y, name + "ffn.out"), name + "ffn.out_norm")
        return torch.nn.functional.linear(x, self.p["head.weight"])

    def loss(self, ids, labels):
        if labels.is_floating_point():
            return torch.nn.functional.mse_loss(self.logits(ids), labels)
        return torch.nn.functional.cross_entropy(self.logits(ids).flatten(0, 1),
                                                 labels.flatten())


class Lamb(torch.optim.Optimizer):
    """You et al., 2020, with corrected moments: a step of each parameter has the length
    rate |w|, or rate |update| where one of both is 0."""

    def __init__(self, parameters, rate, weight_decay):
        super().__init__(parameters, {"rate": rate, "decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                state = self.state[w]
                if not state:
                    state.update(step=0, m=torch.zeros_like(w), v=torch.zeros_like(w))
                state["step"] += 1
                state["m"].lerp_(w.grad, 1 - 0.9)
                state["v"].mul_(0.999).addcmul_(w.grad, w.grad, value=1 - 0.999)
                m = state["m"] / (1 - 0.9 ** state["step"])
                v = state["v"] / (1 - 0.999 ** state["step"])
                update = m / (v.sqrt() + 1e-8) + group["decay"] * w
                weight, length = w.norm().item(), update.norm().item()
                trust = weight / length if weight > 0 and length > 0 else 1
                w.sub_(group["rate"] * trust * update)


def optimizer(train, parameters):
    kind, rate = train["optimizer"], train["rate"]
    if kind == "sgd":
        return torch.optim.SGD(parameters, rate, momentum=train.get("momentum", 0),
                               weight_decay=train.get("weight_decay", 0))
    if kind == "lamb":
        return Lamb(parameters, rate, train.get("weight_decay", 0))
    made = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]
    return made(parameters, rate, weight_decay=train.get("weight_decay", 0))


def trained(mille, layers, train, folder, dtype="f32"):
    """Its losses, its data, and its parameters before and after."""
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
    return losses, sequences(tokens), load_file(start), load_file(end)


def sequences(tokens):
    """Tokens and the ones that follow them, in sequences."""
    count = (len(tokens) - 1) // TOKENS
    cut = numpy.stack([tokens[r * TOKENS: r * TOKENS + TOKENS + 1] for r in range(count)])
    cut = torch.tensor(cut.astype("int64"))
    return cut[:, :-1], cut[:, 1:]


def by_torch(model, train, data, bf16=False):
    """The losses of the same steps; data: ids and labels of all sequences."""
    steps = optimizer(train, list(model.p.values()))
    (ids, labels), losses = data, []
    count = len(ids)
    for step in range(STEPS):
        rows = [order(9, (step * BATCH + i) // count, (step * BATCH + i) % count, count)
                for i in range(BATCH)]
        steps.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            loss = model.loss(ids[rows], labels[rows])
        loss.backward()
        if train.get("clip"):
            torch.nn.utils.clip_grad_norm_(list(model.p.values()), train["clip"])
        steps.step()
        losses.append(loss.item())
    return losses


def furthest(some, others):
    return max(abs(a - b) for a, b in zip(some, others))


def compare_narrow(mille, layers, train, folder):
    losses, data, start, _ = trained(mille, layers, train, folder, "bf16")
    wide = by_torch(Model(layers, start), train, data)
    narrow = by_torch(Model(layers, start), train, data, bf16=True)
    ours, theirs = furthest(losses, wide), furthest(narrow, wide)
    good = 0 < ours < 3 * theirs
    print("%2d layers %-5s in bf16: loss %.4f to %.4f, from f32's %.1e, torch's autocast "
          "%.1e%s" % (layers, train["optimizer"], losses[0], losses[-1], ours, theirs,
                      "" if good else "  FAILED"))
    return good


def compare(mille, layers, train, folder):
    losses, data, start, found = trained(mille, layers, train, folder)
    model = Model(layers, start)
    worst, apart = furthest(losses, by_torch(model, train, data)), 0
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


def answers(mille, spec_path, data, log):
    """The losses of 20 steps by torch, of a spec and data of test/tools/Inputs: tokens of
    causal.py, or ids and labels of losses.py."""
    with open(spec_path) as file:
        given = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        start = os.path.join(folder, "start.safetensors")
        subprocess.check_call([mille, "init", spec_path, "-o", start])
        alpha = None if "skip_scale" in given["units"][0] else 1
        model = Model(given["layers"], load_file(start), alpha)
    if given["train"].get("loss"):
        tensors = load_file(data)
        both = torch.tensor(tensors["input_ids"]).long(), torch.tensor(tensors["labels"])
    else:
        both = sequences(numpy.fromfile(data, "<u2"))
    losses = by_torch(model, given["train"], both)
    with open(log, "w") as file:
        for loss in losses:
            file.write(json.dumps({"loss": loss}) + "\n")


def main():
    if sys.argv[2:3] == ["answers"]:
        return answers(os.path.abspath(sys.argv[1]), *sys.argv[3:])
    layers = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    good, bf16 = True, sys.argv[3:] == ["bf16"]
    for train in ({"optimizer": "sgd", "rate": 0.1},
                  {"optimizer": "sgd", "rate": 0.05, "momentum": 0.9, "clip": 0.5},
                  {"optimizer": "adam", "rate": 1e-3},
                  {"optimizer": "adamw", "rate": 1e-3, "weight_decay": 0.1},
                  {"optimizer": "lamb", "rate": 0.01, "weight_decay": 0.01}):
        if bf16 and train["optimizer"] != "adamw":
            continue
        with tempfile.TemporaryDirectory() as folder:
            good &= (compare_narrow if bf16 else compare)(
                os.path.abspath(sys.argv[1]), layers, train, folder)
    sys.exit(not good)


main()
