#!/usr/bin/env python3
"""What depth does to trainings, by training: minutes on one core.

usage: check-trainings.py MILLE [quick|whole]

quick: 24 layers, 50 steps of Adam: Post-LN does not learn, DeepNorm does.
whole: that with 100 steps; 9 layers of Post-LN with and without warm-up, 300 steps.
"""
import json
import os
import subprocess
import sys
import tempfile

from trained_stack import DEEPNORM, stack

mille, extent = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "whole"
failed = []


def claim(text, holds):
    print(("" if holds else "FAILED: ") + text, flush=True)
    if not holds:
        failed.append(text)


def spec(path, layers, unit, scheme, seed=1, **train):
    made = stack(layers, 64, 256, 4, 64, 16, "causal", {"scheme": scheme, "seed": seed},
                 dict({"optimizer": "adam", "rate": 0.001}, **train), unit)
    with open(path, "w") as file:
        json.dump(dict(made, name="deep"), file)


POST = {"out_norm": DEEPNORM["out_norm"]}
CHAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "examples",
                     "train-deep", "chain.py")


def chain(path, count):
    """Tokens of 64 states with four equally likely successors each: the least loss is
    ln 4 = 1.386, and who sees one token alone has about 4.0."""
    subprocess.run([sys.executable, CHAIN, path, str(count)], check=True)


def train(folder, layers, unit, scheme, steps, seed=1, **options):
    path, log = os.path.join(folder, "deep.json"), os.path.join(folder, "log")
    spec(path, layers, unit, scheme, seed=seed, **options)
    subprocess.run([mille, "train", path, "--data", os.path.join(folder, "chain"),
                    "--batch=16", "--steps=%d" % steps, "--log", log, "--seed=%d" % seed],
                   check=True, stdout=subprocess.DEVNULL)
    with open(log) as file:
        losses = [json.loads(line)["loss"] for line in file]
    return sum(losses[-10:]) / 10


def pair(folder, steps, most):
    post = train(folder, 24, POST, "xavier", steps)
    claim(f"24 layers, {steps} steps: Post-LN has {post:.2f}, 3.9 at least", post >= 3.9)
    deep = train(folder, 24, DEEPNORM, "deepnorm", steps)
    claim(f"24 layers, {steps} steps: DeepNorm has {deep:.2f}, {most} at most",
          deep <= most)


def warm_up(folder):
    cold = train(folder, 9, POST, "xavier", 300)
    claim(f"9 layers, 300 steps, no warm-up: {cold:.2f}, 3.7 at least", cold >= 3.7)
    warm = train(folder, 9, POST, "xavier", 300, warmup=200)
    claim(f"9 layers, 300 steps, 200 of warm-up: {warm:.2f}, 2.0 at most", warm <= 2)


with tempfile.TemporaryDirectory() as folder:
    chain(os.path.join(folder, "chain"), 100001)
    if extent == "quick":
        pair(folder, 50, 2.4)
    else:
        pair(folder, 100, 1.85)
        warm_up(folder)
print(f"{len(failed)} claims failed")
sys.exit(1 if failed else 0)
