#!/usr/bin/env python3
"""Gradients of native specs against central differences.

  unit_gradients.py MILLE DIFFERENCES SCRATCH placements
  unit_gradients.py MILLE DIFFERENCES SCRATCH SEED COUNT

The first runs each named placement of a residual unit, the second specs drawn over
the whole vocabulary (test/models). A model runs unrolled and rolled, with every
`recompute` where it is rolled; a placement in segments and as programs of fused kernels
too. Prints the spec whose gradients are wrong.
"""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                *[os.pardir] * 3, "models", "Inputs"))
import random_specs  # noqa: E402

LAYER = {"kind": "layer_norm", "affine": "weight", "bias": True, "eps": 1e-5}
RMS = {"kind": "rms_norm", "affine": "weight", "bias": False, "eps": 1e-5}
LEARNED = {"kind": "learned_scalar", "init": 0.3}
CHANNEL = {"kind": "learned_channel", "init": 0.3}
ALPHA = {"kind": "const", "value": 3.76}
PARALLEL = {"composition": "parallel"}
# What a unit has beside its branches.
PLACEMENTS = {
    "pre": {"in_norm": LAYER},
    "post": {"out_norm": LAYER},
    "post_rms": {"out_norm": RMS},
    "deepnorm": {"out_norm": LAYER, "skip_scale": ALPHA},
    "admin": {"out_norm": LAYER, "skip_scale": CHANNEL},
    "sandwich": {"in_norm": RMS, "branch_norm": RMS},
    "res_post": {"branch_norm": LAYER},
    "normed_skip": {"in_norm": RMS, "residual_tap": "normed", "skip_scale": ALPHA},
    "rezero": {"branch_scale": {"kind": "learned_scalar", "init": 0}},
    "layerscale": {"in_norm": LAYER, "branch_scale": CHANNEL},
    "branchnorm": {"out_norm": LAYER, "branch_scale":
                   {"kind": "scheduled", "from": 0, "to": 1, "steps": 10}},
    "parallel_one_norm": {**PARALLEL, "in_norm": LAYER, "shared_in_norm": True},
    "parallel_two_norms": {**PARALLEL, "in_norm": LAYER, "shared_in_norm": False},
    "everything": {**PARALLEL, "in_norm": LAYER, "shared_in_norm": True,
                   "residual_tap": "normed", "branch_norm": RMS, "out_norm": LAYER,
                   "skip_scale": CHANNEL, "branch_scale": LEARNED},
}


def placed(slots):
    attention = {"name": "attn", "kind": "attention", "kv_heads": 1, "heads": 2,
                 "head_dim": 4, "mask": "causal", "bias": {"q": True},
                 "logit_scale": {"static": "rsqrt_head_dim"},
                 "rope": {"theta": 100.0, "rotary_dim": 4, "pairing": "half"}}
    ffn = {"name": "ffn", "kind": "ffn", "intermediate_size": 10, "act": "gelu_erf",
           "gated": "none", "bias": {"in": True, "out": True}}
    rest = {"residual_tap": "input", "composition": "sequential", **slots}
    units = ([{"name": "block", "branches": [attention, ffn], **rest}]
             if rest["composition"] == "parallel" else
             [{"name": "attn", "branches": [attention], **rest},
              {"name": "ffn", "branches": [ffn], **rest}])
    return {"name": "placed", "layers": 2, "hidden_size": 8, "vocab_size": 11,
            "embedding": {"scale": 1.0, "position": None, "norm": None},
            "units": units, "final_norm": LAYER,
            "head": {"tied": True, "bias": False},
            "init": {"scheme": "bert", "seed": 1}}


def agree(mille, differences, folder, spec, kernels):
    file = os.path.join(folder, "spec.json")
    with open(file, "w") as out:
        json.dump(spec, out, indent=1)
    rolled = ["--recompute=none", "--recompute=cheap", "--recompute=layer"]
    if kernels:
        rolled += ["--recompute=segment:1", "--kernels",
                   "--kernels --recompute=segment:1"]
    for stage, ways in (("import", ["--recompute=cheap"]), ("roll", rolled)):
        text = os.path.join(folder, stage + ".mlir")
        with open(text, "w") as out:
            made = subprocess.run(
                [mille, "compile", file, "--weights=random:1", "--rewrites=none",
                 f"--stop-after={stage}"], stdout=out)
        if made.returncode:
            return False
        for way in ways:
            ran = subprocess.run([differences, text, *way.split()],
                                 capture_output=True, text=True)
            if ran.returncode:
                print(stage, way, ran.stdout, ran.stderr)
                return False
    return True


def main(arguments):
    mille, differences, folder, which, *count = arguments
    if which == "placements":
        specs = {name: placed(slots) for name, slots in PLACEMENTS.items()}
    else:
        draw = random.Random(int(which))
        specs = {f"{n} of seed {which}": random_specs.spec(draw)
                 for n in range(int(count[0]))}
    for name, spec in specs.items():
        if not agree(mille, differences, folder, spec, which == "placements"):
            print(f"spec {name}:\n{json.dumps(spec, indent=1)}")
            return 1
    print(f"gradients of {len(specs)} specs agree")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
