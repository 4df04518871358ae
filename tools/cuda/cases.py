#!/usr/bin/env python3
"""Runs packages of conformance cases on this machine's device and compares with the
cases' answers: the half of tools/check-cuda.sh for machines without Mille.

  cases.py PACKAGES [--device=cuda] [--jobs=8] [WORD...]

PACKAGES holds CASE.DTYPE folders and libmille_loader.so. Each case runs three times
with the same bits (the third as a graph). Ends with a line "N passed, N failed".
"""
import argparse
import concurrent.futures
import json
import math
import os
import subprocess
import sys

import numpy

from package import Package, Refusal, Session, read_tensors

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, os.pardir, os.pardir)
CASES = os.path.join(ROOT, "test", "conformance")
LONGEST = 60  # seconds of a case: one that hangs is a deadlock
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


def run_here(packages, name, device):
    case, dtype = name.replace("+", "/").rsplit(".", 1)
    try:
        wrong = run_case(os.path.join(packages, "libmille_loader.so"),
                         os.path.join(packages, name), os.path.join(CASES, case), dtype,
                         device)
    except Refusal as refusal:
        wrong = [str(refusal)]
    for sentence in wrong[:3]:
        print(f"FAILED {name}: {sentence}")
    return 1 if wrong else 0


def run_apart(packages, name, device):
    """In a process of its own, since a kernel that faults ends its process' device.
    What it printed; empty where it passed."""
    words = [sys.executable, os.path.abspath(__file__), packages, "--one=" + name,
             "--device=" + device]
    try:
        ran = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return f"FAILED {name}: not done after {LONGEST} s\n"
    if ran.returncode and not ran.stdout:
        return f"FAILED {name}: status {ran.returncode}: {ran.stderr[-200:]}\n"
    return ran.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("packages")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--jobs", type=int, default=min(12, os.cpu_count()))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    packages = os.path.abspath(arguments.packages)
    if arguments.one:
        return run_here(packages, arguments.one, arguments.device)
    names = [name for name in sorted(os.listdir(packages))
             if os.path.isdir(os.path.join(packages, name)) and "." in name and
             (not arguments.words or any(word in name for word in arguments.words))]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for printed in pool.map(
                lambda name: run_apart(packages, name, arguments.device), names):
            failed += bool(printed)
            print(printed, end="", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 0 if names and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
