#!/usr/bin/env python3
"""Runs models before and after rewrites in double: laws.py MILLE BOTH CASES FOLDER.

BOTH is both-in-double. A line per case: whether the rewrite was applied, and how
far the outputs are apart.
"""
import os
import subprocess
import sys

mille, both, root, folder = sys.argv[1:]
cases = [
    ("rotate-norms", "native/law_norm_rotation_normed_skip"),
    ("rotate-norms", "native/normed_skip_chatglm"),
    ("rotate-norms", "minimax_deepnorm_alpha"),
    ("exchange-scales", "native/law_scale_exchange_skip"),
    ("exchange-scales", "native/law_scale_exchange_branch"),
    ("exchange-scales", "native/per_layer_alpha"),
    ("rotate-norms,exchange-scales,fold-branch-scales", "minimax_deepnorm_alpha"),
    ("fold-branch-scales", "native/layerscale"),
    ("fold-branch-scales", "native/rezero"),
    ("fold-branch-scales", "native/sandwich_multiplier"),
    ("fold-branch-scales", "granite"),
    ("fold-linear-scales", "granite"),
    ("fold-linear-scales", "cohere"),
    ("fold-norm-weights", "gpt2"),
    ("fold-norm-weights", "gemma2"),
    ("fold-softmax-scale", "qwen3"),
    ("find-dead-scales", "gemma2"),
]


def rewritten(model, rewrites, name):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        subprocess.run([mille, "compile", model, f"--rewrites={rewrites}",
                        "--stop-after=rewrite"], stdout=file, check=True)
    with open(path) as file:
        return path, file.read()


for rewrites, name in cases:
    case = os.path.join(root, name)
    spec = os.path.join(case, "spec.json")
    model = spec if os.path.exists(spec) else case
    before, _ = rewritten(model, "none", "before.mlir")
    after, text = rewritten(model, rewrites, "after.mlir")
    applied = all(
        any(f'name = "{one}"' in entry and 'status = "applied"' in entry
            for entry in text.split("}")) for one in rewrites.split(","))
    distance = subprocess.run(
        [both, before, after, os.path.join(case, "inputs.safetensors"), case],
        check=True, capture_output=True, text=True).stdout.rsplit(" ", 1)[0]
    print(f"{rewrites} {name}: {'applied' if applied else 'not applied'}, {distance}")
