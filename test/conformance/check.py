#!/usr/bin/env python3
"""Compares a run with the answers of a case: the referee of `mille verify`.

Reads safetensors and case.json by itself (standard library only) and must not
import or call anything of mille. Exit status 0: all outputs within tolerance.

  check.py CASE GOT.safetensors              max(50 * f32 error, 2e-5 * max)
  check.py CASE GOT.safetensors --reference  the reference run, rounded to f32
  check.py CASE GOT.safetensors --kernels    the fused program in double
"""
import array
import json
import math
import os
import struct
import sys

FORMATS = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U8": "B"}
NUMERICS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        os.pardir, os.pardir, "compiler", "interpret",
                        "tolerances.json")


def read_tensors(path):
    """name -> (type, shape, numbers)."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        numbers = array.array(FORMATS[entry["dtype"]])
        numbers.frombytes(data[begin:end])
        if sys.byteorder == "big":
            numbers.byteswap()
        tensors[name] = (entry["dtype"], entry["shape"], numbers)
    return tensors


def bound_of(output, row):
    if not row:
        return max(50 * output["f32_eager_max_abs_error"],
                   2e-5 * output["max_abs"])
    with open(NUMERICS) as file:
        rows = {row["name"]: row for row in json.load(file)["tolerances"]}
    return rows[row]["relative"] * output["max_abs"]


def largest_error(got, expected, mask, inner):
    """Over the numbers that count; infinite where one is not a number, or none counts."""
    worst = 0.0 if any(mask or [1] * len(got)) else math.inf
    for i, (a, b) in enumerate(zip(got, expected)):
        if mask and not mask[i // inner]:
            continue
        error = abs(a - b)
        worst = math.inf if math.isnan(error) else max(worst, error)
    return worst


def check(case, got_path, row):
    with open(os.path.join(case, "case.json")) as file:
        outputs = json.load(file)["outputs"]
    expected = read_tensors(os.path.join(case, "expected.safetensors"))
    inputs = read_tensors(os.path.join(case, "inputs.safetensors"))
    got = read_tensors(got_path)
    failures = 0
    for output in outputs:
        name = output["name"]
        if name not in got:
            print(f"{name}: not in {got_path}")
            failures += 1
            continue
        _, shape, numbers = got[name]
        _, expected_shape, answers = expected[name]
        if shape != expected_shape:
            print(f"{name}: is {shape} but {expected_shape} is expected")
            failures += 1
            continue
        mask = inputs.get(output.get("mask"), (None, None, None))[2]
        inner = len(answers) // len(mask) if mask else 1
        error = largest_error(numbers, answers, mask, inner)
        bound = bound_of(output, row)
        verdict = "ok" if error <= bound else "DIFFERS"
        failures += error > bound
        print(f"{name}: error {error:.3g} bound {bound:.3g} {verdict}")
    if not outputs:
        print(f"{case}: has no outputs to compare")
    return failures or not outputs


ROWS = {"--reference": "reference_rounded", "--kernels": "kernel_stage"}


def main(arguments):
    words = [word for word in arguments if word not in ROWS]
    rows = [ROWS[word] for word in arguments if word in ROWS]
    if len(words) != 2 or len(rows) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    return 1 if check(*words, rows[0] if rows else None) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
