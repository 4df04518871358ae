#!/usr/bin/env python3
"""Runs packages of conformance cases on this machine's device and compares with the
cases' answers: the half of tools/check-cuda.sh for machines without Mille.

  cases.py PACKAGES [--device=cuda] [WORD...]

PACKAGES holds CASE.DTYPE folders and libmille_loader.so. Each case runs three times
with the same bits (the third as a graph). Ends with a line "N passed, N failed".
"""
import argparse
import json
import math
import os
import sys

import numpy

from package import Package, Refusal, Session, read_tensors

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, os.pardir, os.pardir)
CASES = os.path.join(ROOT, "test", "conformance")
sys.path.insert(0, CASES)
import check  # noqa: E402


def tolerance(dtype):
    with open(check.NUMERICS) as file:
        rows = {row["name"]: row for row in json.load(file)["tolerances"]}
    return rows["compiled_" + dtype]


def split(results):
    """Outputs as files of a run hold them: entry by entry."""
    named = {}
    for name, value in results.items():
        named[name] = value
        for i in range(len(value)):
            named.setdefault(f"{name}.{i}", value[i])
    return named


def differences(case, results, inputs, dtype):
    """A sentence for each output that is out of bounds."""
    with open(os.path.join(case, "case.json")) as file:
        outputs = json.load(file)["outputs"]
    expected = read_tensors(os.path.join(case, "expected.safetensors"))
    row = None if dtype == "f32" else tolerance(dtype)
    for output in outputs:
        name = output["name"]
        if name not in results:
            yield f"{name} is no output"
            continue
        got = results[name].astype("f8")
        answers = expected[name].astype("f8")
        mask = inputs.get(output.get("mask"))
        if mask is not None:
            keep = mask.astype(bool)
            got, answers = got[keep], answers[keep]
        if got.shape != answers.shape:
            yield f"{name} is {got.shape} but {answers.shape} is expected"
            continue
        error = numpy.abs(got - answers).max() if got.size else 0
        error = math.inf if numpy.isnan(error) else error
        bound = (row["relative"] * output["max_abs"] if row
                 else check.bound_of(output, None))
        if error > bound:
            yield f"{name}: error {error:.3g} bound {bound:.3g}"
        norms = numpy.linalg.norm(got) * numpy.linalg.norm(answers)
        if row and norms and (got * answers).sum() / norms < row["cosine"]:
            yield (f"{name}: cosine {(got * answers).sum() / norms:.5f} "
                   f"least {row['cosine']}")


def run_case(loader, folder, case, dtype, device):
    inputs = read_tensors(os.path.join(case, "inputs.safetensors"))
    package = Package(loader, folder)
    sizes = package.sizes_of(inputs)
    session = Session(package, sizes, device)
    bits = []
    for _ in range(3):
        results = session.bind(inputs, sizes)
        session.run()
        bits.append({name: value.tobytes() for name, value in results.items()})
    wrong = list(differences(case, split(results), inputs, dtype))
    if any(one != bits[0] for one in bits):
        wrong.append("runs have different bits")
    session.close()
    package.close()
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("packages")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    loader = os.path.abspath(os.path.join(arguments.packages, "libmille_loader.so"))
    passed = failed = 0
    for name in sorted(os.listdir(arguments.packages)):
        folder = os.path.join(arguments.packages, name)
        if not os.path.isdir(folder) or "." not in name:
            continue
        if arguments.words and not any(word in name for word in arguments.words):
            continue
        case, dtype = name.replace("+", "/").rsplit(".", 1)
        try:
            wrong = run_case(loader, folder, os.path.join(CASES, case), dtype,
                             arguments.device)
        except Refusal as refusal:
            wrong = [str(refusal)]
        passed += not wrong
        failed += bool(wrong)
        for sentence in wrong[:3]:
            print(f"FAILED {name}: {sentence}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
