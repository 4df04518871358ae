#!/usr/bin/env python3
"""Runs each entry of a package by itself on the inputs that it takes, from what
entries before it gave and from a file; each output that forward has too must
have the same bits. In the reference, whose numbers are rounded on their way
through a file, they must be close.

  entries.py MILLE PACKAGE INPUTS WORK ENTRY... [-- OPTION...]
"""
import array
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))
import tensors


def load(path):
    kinds = {"f": "F32", "i": "I32", "q": "I64"}
    return {name: (kinds[numbers.typecode], shape, block)
            for name, (shape, numbers, block) in tensors.load(path).items()}


def agree(got, expected, rounded):
    if not rounded or got[:2] != expected[:2]:
        return got == expected
    pairs = zip(array.array("f", got[2]), array.array("f", expected[2]))
    return all(abs(a - b) <= 1e-6 * (1 + abs(b)) for a, b in pairs)


def main(arguments):
    options = []
    if "--" in arguments:
        options = arguments[arguments.index("--") + 1:]
        arguments = arguments[:arguments.index("--")]
    mille, package, given, work, *entries = arguments
    os.makedirs(work, exist_ok=True)
    stem = os.path.basename(os.path.normpath(package))
    with open(os.path.join(package, stem + ".json")) as file:
        manifest = json.load(file)["mille_package"]
    takes = {entry["name"]: [tensor["name"] for tensor in entry["inputs"]]
             for entry in manifest["entries"]}
    known = load(given)
    forward, compared = None, 0
    for entry in ["forward"] + entries:
        files = [os.path.join(work, entry + end)
                 for end in (".in.safetensors", ".out.safetensors")]
        tensors.save(files[0], {name: known[name] for name in takes[entry]
                                if name in known})
        subprocess.run([mille, "run", package, "--inputs", files[0],
                        "--outputs", files[1], "--entry=" + entry, *options],
                       check=True)
        outputs = load(files[1])
        if forward is None:
            forward = outputs
            continue
        for name, value in outputs.items():
            if not agree(value, forward[name], "--target=reference" in options):
                sys.exit(f"{entry}: {name} differs from forward's")
            compared += 1
        known.update(outputs)
    print(f"{compared} outputs of {', '.join(entries)} are forward's")


main(sys.argv[1:])
