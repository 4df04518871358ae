#!/usr/bin/env python3
"""How much of the error of a model's logits, by blocks of its weights, is left where
they were rounded for a text: calibrated.py MILLE MODEL TEXT TYPE WORK"""
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, "Inputs"))
sys.dont_write_bytecode = True
import tensors  # noqa: E402

mille, model, text, kind, work = sys.argv[1:]


def logits(name, *options):
    package = os.path.join(work, name)
    subprocess.run([mille, "compile", model, "-o", package, "--name=m", "--target=x86-64-v3",
                    "--weights=random:3", *options], check=True)
    with open(text) as file:
        said = subprocess.run([mille, "tokens", package, "--encode=" + file.read()],
                              check=True, capture_output=True, text=True).stdout
    ids = [int(word) for word in said.split(",")][:48]
    given, got = os.path.join(work, "in"), os.path.join(work, "out")
    tensors.save(given, {"input_ids": ("I64", [1, len(ids)],
                                       struct.pack("<%dq" % len(ids), *ids))})
    subprocess.run([mille, "run", package, "--inputs", given, "--outputs", got],
                   check=True)
    bits = bytes(tensors.load(got)["logits"][2])
    return struct.unpack("<%df" % (len(bits) // 4), bits)


def error(ours):
    return sum((a - b) ** 2 for a, b in zip(ours, exact))


exact = logits("exact")
plain = error(logits("plain", "--dtype=" + kind))
ours = error(logits("ours", "--dtype=" + kind, "--calibrate=" + text))
print("%s: %.3f of the error" % (kind, ours / plain))
