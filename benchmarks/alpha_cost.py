#!/usr/bin/env python3
"""What DeepNorm's alpha costs: a stack against the same stack without it.

  alpha_cost.py [--mille PATH] [--spec SPEC] [--pairs 20] [--tokens 128]
                [--threads 1]

Takes skip_scale out of every unit of SPEC (the DeepNorm example), compiles both,
and compares kernels, launches, bytes of weights and of activations; then runs
them in pairs, one after the other, the order changing from pair to pair, and
prints the ratio of the medians.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def without_scale(spec):
    plain = json.loads(json.dumps(spec))
    plain["name"] += "_plain"
    for unit in plain["units"]:
        unit.pop("skip_scale", None)
    plain["init"]["scheme"] = "bert"  # DeepNorm's asks for the scale
    return plain


def compiled(options, spec, folder):
    path = os.path.join(folder, spec["name"] + ".json")
    with open(path, "w") as file:
        json.dump(spec, file)
    package = os.path.join(folder, spec["name"])
    subprocess.run([options.mille, "compile", path, "-o", package], check=True)
    with open(os.path.join(package, spec["name"] + ".json")) as file:
        manifest = json.load(file)["mille_package"]
    return package, {
        "kernels": len(manifest["kernels"]),
        "places of kernels": sum(k["places"] for k in manifest["kernels"]),
        "flops per row": sum(k["flops_per_row"] * k["places"]
                             for k in manifest["kernels"]),
        "bytes of weights": manifest["weights_bytes"],
        "bytes of activations per row": manifest["arena_bytes_per_row"]}


def milliseconds(options, package):
    bench = subprocess.run(
        [options.mille, "bench", package, "--json", "--repeats=5",
         "--tokens=%d" % options.tokens, "--threads=%d" % options.threads],
        check=True, capture_output=True, text=True).stdout
    return json.loads(bench)["median_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mille", default=os.path.join(TOP, "build/bin/mille"))
    parser.add_argument("--spec", default=os.path.join(
        TOP, "examples/deepnorm-encoder/deepnorm-encoder.json"))
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    with open(options.spec) as file:
        spec = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        sides = [compiled(options, one, folder) for one in (spec, without_scale(spec))]
        for what, count in sides[0][1].items():
            print("%-28s %12d with alpha, %12d without" % (what, count,
                                                          sides[1][1][what]))
        times = [[], []]
        for pair in range(options.pairs):
            for side in (0, 1) if pair % 2 else (1, 0):
                times[side].append(milliseconds(options, sides[side][0]))
    medians = [statistics.median(one) for one in times]
    ratios = sorted(a / b for a, b in zip(*times))
    print("%d pairs, %d tokens, %d threads: medians %.3f and %.3f ms, ratio %.4f; "
          "ratios of pairs from %.4f to %.4f, quartiles %.4f and %.4f" % (
              options.pairs, options.tokens, options.threads, *medians,
              medians[0] / medians[1], ratios[0], ratios[-1],
              ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4]))
    return 0 if sides[0][1] == sides[1][1] else 1


sys.exit(main())
