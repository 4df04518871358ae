#!/usr/bin/env python3
"""What depth does to trainings, by training: minutes on one core.

usage: check-trainings.py MILLE [quick|whole|long]

quick: 24 layers, 50 steps of Adam: Post-LN does not learn, DeepNorm does.
whole: that with 100 steps; 9 layers of Post-LN with and without warm-up, 300 steps; the
  change of the loss by a first step at 4, 16, 64 and 256 layers, which a stack made for
  an optimizer keeps; gradients of DeepNorm stacks, which shrink as (4 N)^(-1/2).
long: 100 layers, three seeds, seven schemes.
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

mille, extent = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "whole"
failed = []


def claim(text, holds):
    print(("" if holds else "FAILED: ") + text, flush=True)
    if not holds:
        failed.append(text)


def spec(path, layers, unit, scheme, hidden=64, head=True, seed=1, units=None, **train):
    attention = {"kind": "attention", "heads": 4, "mask": "causal",
                 "bias": {key: True for key in "qkvo"}}
    ffn = {"kind": "ffn", "intermediate_size": 4 * hidden, "act": "gelu_erf",
           "bias": {"in": True, "out": True}}
    made = {"name": "deep", "layers": layers, "hidden_size": hidden, "vocab_size": 64,
            "embedding": {"position": "learned", "position_size": 16},
            "units": [dict(unit, branches=[branch]) for branch in (attention, ffn)],
            "init": {"scheme": scheme, "seed": seed},
            "train": dict({"optimizer": "adam", "rate": 0.001}, **train)}
    if "in_norm" in unit:
        made["final_norm"] = unit["in_norm"]
    if head:
        made["head"] = {"tied": False}
    with open(path, "w") as file:
        json.dump(made, file)


NORM = {"kind": "layer_norm"}
POST = {"out_norm": NORM}


def scaled(formula, scheme):
    return dict(POST, skip_scale={"kind": "const", "formula": formula}), scheme


DEEPNORM = scaled("(2*layers)^(1/4)", "deepnorm")


def chain(path, count):
    """Tokens of 64 states with four equally likely successors each: the least loss is
    ln 4 = 1.386, and who sees one token alone has about 4.0."""
    fixed, draw = random.Random(7), random.Random(1)
    table = [fixed.sample(range(64), 4) for _ in range(64)]
    state, tokens = 0, []
    for _ in range(count):
        state = draw.choice(table[state])
        tokens.append(state)
    with open(path, "wb") as file:
        file.write(struct.pack("<%dH" % count, *tokens))


def train(folder, layers, unit, scheme, steps, seed=1, **options):
    path, log = os.path.join(folder, "deep.json"), os.path.join(folder, "log")
    spec(path, layers, unit, scheme, seed=seed, **options)
    subprocess.run([mille, "train", path, "--data", os.path.join(folder, "chain"),
                    "--batch=16", "--steps=%d" % steps, "--log", log, "--seed=%d" % seed],
                   check=True, stdout=subprocess.DEVNULL)
    with open(log) as file:
        losses = [json.loads(line)["loss"] for line in file]
    return sum(losses[-10:]) / 10


def exact(folder, layers, unit, scheme, seed):
    """The exact first updates of a stack without a head, and its units."""
    path = os.path.join(folder, "stack.json")
    spec(path, layers, unit, scheme, hidden=32, head=False, seed=seed)
    ran = subprocess.run([mille, "analyze", path, "--sample=8", "--gradients", "--json",
                          "--seed=%d" % seed], check=True, capture_output=True, text=True)
    stack, = json.loads(ran.stdout)["stacks"]
    return stack


def pair(folder, steps, most):
    post = train(folder, 24, POST, "xavier", steps)
    claim(f"24 layers, {steps} steps: Post-LN has {post:.2f}, 3.9 at least", post >= 3.9)
    deep = train(folder, 24, *DEEPNORM, steps)
    claim(f"24 layers, {steps} steps: DeepNorm has {deep:.2f}, {most} at most",
          deep <= most)


def warm_up(folder):
    cold = train(folder, 9, POST, "xavier", 300)
    claim(f"9 layers, 300 steps, no warm-up: {cold:.2f}, 3.7 at least", cold >= 3.7)
    warm = train(folder, 9, POST, "xavier", 300, warmup=200)
    claim(f"9 layers, 300 steps, 200 of warm-up: {warm:.2f}, 2.0 at most", warm <= 2)


def first_steps(folder, depths):
    table = {"sgd": [DEEPNORM, scaled("(2*layers)^(1/4)", "su-sgd")],
             "adam": [scaled("(2*layers)^(1/2)", "su-adam")],
             "lamb": [scaled("(2*layers)^(1/4)", "su-lamb")]}
    table["adam"].append((POST, "xavier"))
    for key, stacks in table.items():
        for unit, scheme in stacks:
            means = []
            for layers in depths:
                found = [exact(folder, layers, unit, scheme, seed)["update_exact"][key]
                         for seed in (1, 2, 3)]
                means.append(math.prod(found) ** (1 / 3))
            ratio = max(means) / min(means)
            words = ", ".join(f"{one:.3g}" for one in means)
            text = f"{scheme}, {key} at {depths} layers: {words}; {ratio:.2f} apart"
            if scheme == "xavier":
                claim(text + ", 5 at least", ratio >= 5)
            else:
                claim(text, ratio <= 1.5)


def profile(folder, depths):
    lengths = []
    for layers in depths:
        units = exact(folder, layers, *DEEPNORM, 1)["units"]
        ffn = [math.sqrt(u["exact"]["update"]["sgd"]) for u in units if u["unit"] == "ffn"]
        lengths.append(ffn[-1] * math.sqrt(4 * layers))
    ratio = max(lengths) / min(lengths)
    claim(f"length of the last gradient times (4 N)^(1/2) at {depths} layers: "
          f"{ratio:.2f} apart", ratio <= 1.2)


def hundred(folder):
    schemes = {"Post-LN": (POST, "xavier"), "DeepNorm": DEEPNORM,
               "alpha only": scaled("(2*layers)^(1/4)", "xavier"),
               "su-sgd": scaled("(2*layers)^(1/4)", "su-sgd"),
               "su-adam": scaled("(2*layers)^(1/2)", "su-adam"),
               "Pre-LN": ({"in_norm": NORM}, "xavier"),
               "ReZero": ({"branch_scale": {"kind": "learned_channel"}}, "rezero")}
    for name, (unit, scheme) in schemes.items():
        losses = [train(folder, 100, unit, scheme, 150, seed) for seed in (1, 2, 3)]
        stuck = name in ("Post-LN", "alpha only")
        claim(f"100 layers, 150 steps, {name}: " +
              ", ".join(f"{one:.2f}" for one in losses),
              all(one >= 3.9 if stuck else one <= 2.2 for one in losses))


with tempfile.TemporaryDirectory() as folder:
    chain(os.path.join(folder, "chain"), 100001)
    if extent == "quick":
        pair(folder, 50, 2.2)
    else:
        pair(folder, 100, 1.85)
        warm_up(folder)
        first_steps(folder, (4, 16, 64))
        profile(folder, (6, 24, 100))
    if extent == "long":
        first_steps(folder, (4, 16, 64, 256))
        hundred(folder)
print(f"{len(failed)} claims failed")
sys.exit(1 if failed else 0)
