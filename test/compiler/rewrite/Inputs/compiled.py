#!/usr/bin/env python3
"""Compiles models with and without rewrites and runs both:
compiled.py MILLE CASES FOLDER. A line per case."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "..", "Inputs"))
import tensors

mille, root, folder = sys.argv[1:]
with open(tensors.TOLERANCES) as file:
    bound = next(row["relative"] for row in json.load(file)["tolerances"]
                 if row["name"] == "compiled_f32")
cases = [
    ("native/law_norm_rotation_normed_skip", "--rewrites=rotate-norms"),
    ("minimax_deepnorm_alpha", "--rewrites=rotate-norms"),
    ("qwen3", "--rewrites=fold-softmax-scale"),
    ("native/macaron_half_steps", "--bit-exact"),
    ("native/deepnet_encoder", "--bit-exact"),
    ("native/layerscale", "--bit-exact"),
    ("native/law_scale_exchange_skip", "--rewrites=exchange-scales"),
    ("native/law_scale_exchange_branch", "--rewrites=exchange-scales"),
    ("native/deepnet_encoder_decoder", "--rewrites=all"),
    ("native/layerscale", "--rewrites=fold-branch-scales"),
    ("native/rezero", "--rewrites=all"),
    ("granite", "--rewrites=all"),
    ("gemma2", "--rewrites=all"),
    ("gpt2", "--rewrites=fold-norm-weights"),
]


def outputs(case, option, name):
    spec = os.path.join(case, "spec.json")
    package, out = os.path.join(folder, name), os.path.join(folder, name + ".out")
    subprocess.run([mille, "compile", spec if os.path.exists(spec) else case, option,
                    "--target=x86-64-v3", "--name=m", "-o", package], check=True)
    subprocess.run([mille, "run", package, "--inputs",
                    os.path.join(case, "inputs.safetensors"), "--outputs", out],
                   check=True)
    with open(os.path.join(package, "m.json")) as file:
        rewrites = json.load(file)["mille_package"]["rewrites"]
    return tensors.load(out), any(r["status"] == "applied" for r in rewrites)


def distance(one, other):
    error = tensors.relative_error(one, other)
    return "same bits" if error == 0 else "close" if error <= bound else f"{error}"


for name, option in cases:
    case = os.path.join(root, name)
    before, _ = outputs(case, "--rewrites=none", "before")
    after, applied = outputs(case, option, "after")
    print(f"{name} {option}: {'applied' if applied else 'not applied'},"
          f" {distance(before, after)}")

# The same model in two placements: their weights are equal.
law = os.path.join(root, "native/law_norm_rotation_")
skip, _ = outputs(law + "normed_skip", "--rewrites=rotate-norms", "skip")
post, _ = outputs(law + "post", "--rewrites=none", "post")
print(f"normed_skip rotated and post: {distance(skip, post)}")
