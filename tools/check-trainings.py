#!/usr/bin/env python3
"""What depth does to trainings, by training: minutes on one core.

usage: check-trainings.py MILLE [quick|first|whole|hundred|thousand] [FOLDER]

quick: 24 layers, 50 steps of Adam: Post-LN does not learn, DeepNorm does.
first: what the first step of an optimizer changes does not depend on depth where the
weights' scheme is for that optimizer, and does where it is not; DeepNorm's gradients.
whole: quick with 100 steps; 9 layers of Post-LN with and without warm-up, 300 steps;
first.
hundred: 100 layers, eight schemes, three seeds, 150 steps: a table.
thousand: 1000 layers of DeepNorm, 32 channels: the loss falls.
The logs of the last two stay in FOLDER, for examples/train-deep/curves.py.
"""
import json
import math
import os
import struct
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


def spec(path, layers, unit, scheme, seed=1, hidden=64, rest=(), **train):
    made = stack(layers, hidden, 4 * hidden, 4, 64, 16, "causal",
                 {"scheme": scheme, "seed": seed},
                 dict({"optimizer": "adam", "rate": 0.001}, **train), unit)
    with open(path, "w") as file:
        json.dump(dict(made, name="deep", **dict(rest)), file)


POST = {"out_norm": DEEPNORM["out_norm"]}
CHAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "examples",
                     "train-deep", "chain.py")


def chain(path, count):
    """Tokens of 64 states with four equally likely successors each: the least loss is
    ln 4 = 1.386, and who sees one token alone has about 4.0."""
    subprocess.run([sys.executable, CHAIN, path, str(count)], check=True)


def losses(folder, layers, unit, scheme, steps, seed=1, batch=16, log="log", **options):
    path, log = os.path.join(folder, "deep.json"), os.path.join(folder, log)
    spec(path, layers, unit, scheme, seed=seed, **options)
    subprocess.run([mille, "train", path, "--data", os.path.join(folder, "chain"),
                    "--batch=%d" % batch, "--steps=%d" % steps, "--log", log,
                    "--seed=%d" % seed, "--threads=1"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(log) as file:
        return [json.loads(line)["loss"] for line in file]


def mean(numbers):
    return sum(numbers) / len(numbers)


def train(*arguments, **options):
    return mean(losses(*arguments, **options)[-10:])


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


def first_updates(folder, layers, scheme, unit, seed):
    """Of linears alone: biases and norms get gradients that no scheme holds back."""
    made = stack(layers, 32, 128, 4, 64, 8, "bidirectional",
                 {"scheme": scheme, "seed": seed}, {}, unit)
    for key in ("train", "head"):
        del made[key]
    for each in made["units"]:
        each["out_norm"] = dict(LAYER, affine="none")
        bias = each["branches"][0]["bias"]
        each["branches"][0]["bias"] = {key: False for key in bias}
    path, ids = os.path.join(folder, "bare.json"), os.path.join(folder, "ids")
    with open(path, "w") as file:
        json.dump(dict(made, name="bare"), file)
    numbers = [(7 * i * i + 3 * i) % 64 for i in range(32)]
    header = json.dumps({"input_ids": {"dtype": "I32", "shape": [4, 8],
                                       "data_offsets": [0, 128]}}).encode()
    with open(ids, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header +
                   struct.pack("<32i", *numbers))
    ran = subprocess.run([mille, "analyze", path, "--inputs", ids, "--gradients",
                          "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(ran.stdout)["stacks"][0]


def spread(numbers):
    return max(numbers) / min(numbers)


def first(folder):
    stacks = {(scheme, layers): first_updates(folder, layers, scheme, unit, 2)
              for scheme, unit in (("su-sgd", SCHEMES["su-sgd"][1]),
                                   ("su-adam", SCHEMES["su-adam"][1]),
                                   ("su-lamb", POST), ("deepnorm", DEEPNORM))
              for layers in DEPTHS}
    for scheme in ("su-sgd", "su-adam", "su-lamb"):
        for optimizer in ("sgd", "adam", "lamb"):
            factor = spread([stacks[scheme, layers]["update_exact"][optimizer]
                             for layers in DEPTHS])
            mine = scheme == "su-" + optimizer
            if mine or (scheme, optimizer) in (("su-sgd", "adam"), ("su-adam", "sgd"),
                                               ("su-lamb", "adam")):
                claim(f"first step, {scheme} under {optimizer}, 4 to 64 layers: factor "
                      f"{factor:.2f}, {'1.35 at most' if mine else '3 at least'}",
                      factor <= 1.35 if mine else factor >= 3)
    lengths = [[math.sqrt(4 * layers * unit["exact"]["update"]["sgd"])
                for unit in stacks["deepnorm", layers]["units"] if unit["unit"] == "ffn"]
               for layers in DEPTHS]
    factor = spread([of[-1] for of in lengths])
    claim("gradient of DeepNorm's last feed-forward beside (4 N)^(-1/2): factor "
          f"{factor:.3f} at 4 to 64 layers, 1.1 at most", factor <= 1.1)
    factor = max(spread(of) for of in lengths)
    claim(f"and of a stack's layers: factor {factor:.3f}, 1.2 at most", factor <= 1.2)


def const(formula):
    return {"kind": "const", "formula": formula}


LAYER = {"kind": "layer_norm"}
DEPTHS = (4, 16, 64)
# Name: the scheme of the weights, what units have, what the stack has beside them.
SCHEMES = {
    "Post-LN": ("xavier", POST, {}),
    "alpha only": ("xavier", DEEPNORM, {}),
    "DeepNorm": ("deepnorm", DEEPNORM, {}),
    "su-sgd": ("su-sgd", {**POST, "skip_scale": const("(2*layers)^(1/4)")}, {}),
    "su-adam": ("su-adam", {**POST, "skip_scale": const("(2*layers)^(1/2)")}, {}),
    "Pre-LN": ("xavier", {"in_norm": LAYER}, {"final_norm": LAYER}),
    "ReZero": ("rezero", {"branch_scale": {"kind": "learned_scalar", "init": 0}}, {}),
    "BranchNorm": ("xavier", {**POST, "branch_scale":
                              {"kind": "scheduled", "from": 0, "to": 1, "steps": 100}},
                   {}),
}


def hundred(folder):
    """Rows as docs/train.md has them. What a scheme does not promise is no claim."""
    last = {}
    for name, (scheme, unit, rest) in SCHEMES.items():
        for seed in (1, 2, 3):
            log = "%s.%d" % (name.replace(" ", "-"), seed)
            at = losses(folder, 100, unit, scheme, 150, seed=seed, log=log, rest=rest)
            last.setdefault(name, []).append(mean(at[-10:]))
            print("| %s | %d | %s |" % (name, seed, " | ".join(
                "%.2f" % mean(at[max(0, step - 5):step]) for step in (10, 50, 100, 150))),
                  flush=True)
    for name in ("Post-LN", "alpha only"):
        claim(f"100 layers: {name} has {min(last[name]):.2f} or more, 3.9 at least",
              min(last[name]) >= 3.9)
    for name in ("DeepNorm", "su-sgd", "su-adam", "ReZero"):
        claim(f"100 layers: {name} has {max(last[name]):.2f} or less, 2 at most",
              max(last[name]) <= 2)
    # Embeddings of 1/8 are small beside the sum of 200 branches: it begins to learn late.
    claim(f"100 layers: Pre-LN has {max(last['Pre-LN']):.2f} or less, 3.7 at most",
          max(last["Pre-LN"]) <= 3.7)


def thousand(folder):
    at = losses(folder, 1000, DEEPNORM, "deepnorm", 300, hidden=32, batch=8, rate=2e-4,
                log="thousand")
    print("1000 layers: " + ", ".join(
        "%.2f after %d" % (mean(at[step - 10:step]), step)
        for step in (10, 50, 100, 200, 300)), flush=True)
    claim(f"1000 layers of DeepNorm: {mean(at[-10:]):.2f}, 3.2 at most",
          mean(at[-10:]) <= 3.2)


with tempfile.TemporaryDirectory() as scratch:
    folder = sys.argv[3] if len(sys.argv) > 3 else scratch
    chain(os.path.join(folder, "chain"), 100001)
    if extent == "quick":
        pair(folder, 50, 2.4)
    elif extent == "first":
        first(folder)
    elif extent == "hundred":
        hundred(folder)
    elif extent == "thousand":
        thousand(folder)
    else:
        pair(folder, 100, 1.85)
        warm_up(folder)
        first(folder)
print(f"{len(failed)} claims failed")
sys.exit(1 if failed else 0)
