#!/usr/bin/env python3
"""Compiles a model whose runs choose the image's size, once, and compares images of
three sizes with the answers of another implementation, compiled with 1 and 3 threads
and in the reference. Images of the conformance case have the bits of a package of
their size.

  sizes.py MILLE MODEL FOLDER   cases/NAME_HEIGHTxWIDTH for the model's NAME
"""
import filecmp
import glob
import json
import os
import struct
import subprocess
import sys

mille, model, folder = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
conformance = os.path.join(here, os.pardir, os.pardir, "conformance")
name = os.path.basename(model)


def compiled(package, *options):
    path = os.path.join(folder, package)
    subprocess.run([mille, "compile", model, "--hidden-states", "--target=x86-64-v3",
                    "-o", path, *options],
                   check=True)
    return path


def run(package, case, out, *options):
    path = os.path.join(folder, out)
    subprocess.run([mille, "run", package, "--hidden-states", "--inputs",
                    os.path.join(case, "inputs.safetensors"), "--outputs", path,
                    *options], check=True)
    return path


def shape_of(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length))["pixel_values"]["shape"]


def same(left, right, what):
    if not filecmp.cmp(left, right, shallow=False):
        sys.exit(f"{name}: {what} differ")


def check(case, got, *options):
    checked = subprocess.run([sys.executable, os.path.join(conformance, "check.py"),
                              case, got, *options], capture_output=True, text=True)
    if checked.returncode:
        sys.exit(f"{case}: {options}\n{checked.stdout}{checked.stderr}")


os.makedirs(folder, exist_ok=True)
package = compiled("any", "--image-size=any")
cases = sorted(glob.glob(os.path.join(here, os.pardir, "cases", name + "_[0-9]*x*")))
for case in cases:
    one = run(package, case, "one", "--threads=1")
    check(case, one)
    same(one, run(package, case, "three", "--threads=3"), f"1 and 3 threads of {case}")
    check(case, run(package, case, "reference", "--target=reference"), "--reference")
own = os.path.join(conformance, name)
height, width = shape_of(os.path.join(own, "inputs.safetensors"))[2:]
fixed = compiled("fixed", f"--image-size={height}x{width}")
same(run(package, own, "one"), run(fixed, own, "own"),
     "images of a package of any size and of one size")
print(f"{name}: {len(cases)} sizes")
