#!/usr/bin/env python3
"""Every case of test/conformance in bf16 and int8, by `mille verify`: a line for each,
the worst at the end. Longer than the gate may take; test/tools/dtype.test has three.
Exit status 0 when every one is within its bound.

  check-dtypes.py [--target=opencl] [--dtype=TYPE] build/bin/mille [PART-OF-A-NAME...]

With --reference no kernel is made: the program with narrow types runs in double, which
shows what the rounding of weights and of inputs of products alone does. With --emulate
kernels for Hopper run in the emulator, beside the model in f32.
"""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "test",
                    "conformance")
sys.path.insert(0, os.path.join(ROOT, os.pardir, "Inputs"))
from tensors import load, relative_error  # noqa: E402

LINE = re.compile(r"max error (\S+) of (\S+) .* cosine (\S+) of")


def cases():
    for folder, _, files in sorted(os.walk(ROOT)):
        if "case.json" in files:
            spec = os.path.join(folder, "spec.json")
            yield (os.path.relpath(folder, ROOT),
                   spec if os.path.exists(spec) else folder, folder)


def options(folder):
    """Further options with which a case is compiled."""
    try:
        with open(os.path.join(folder, "lit.local.cfg")) as file:
            return re.findall(r'"%options", "(.*)"', file.read())
    except FileNotFoundError:
        return []


def check(mille, target, model, folder, dtype, package):
    """Whether it is within its bound; the largest relative error; the least cosine."""
    made = subprocess.run([mille, "compile", model, "-o", package, "--name=m",
                           "--dtype=" + dtype, "--target=" + target] + options(folder),
                          capture_output=True, text=True)
    if made.returncode:
        return False, made.stderr.strip(), 0
    ran = subprocess.run([mille, "verify", package, "--inputs",
                          os.path.join(folder, "inputs.safetensors")],
                         capture_output=True, text=True)
    found = [[float(x) for x in m] for m in LINE.findall(ran.stdout)]
    if not found:
        return False, ran.stderr.strip() or ran.stdout, 0
    errors = [error / most if most else 0 for error, most, _ in found]
    return ran.returncode == 0, max(errors), min(cosine for _, _, cosine in found)


def least_cosine(one, other):
    found = 1
    for name, (_, numbers, _) in one.items():
        others = other[name][1]
        size = math.hypot(*numbers) * math.hypot(*others)
        if size:
            found = min(found, sum(a * b for a, b in zip(numbers, others)) / size)
    return found


def fused_model(mille, model, folder, work):
    """The model after the stage `fuse`, beside its weights."""
    os.mkdir(work)
    for name in os.listdir(folder):
        if name.endswith(".safetensors"):
            os.symlink(os.path.join(os.path.abspath(folder), name),
                       os.path.join(work, name))
    fused = os.path.join(work, "fused.mlir")
    with open(fused, "w") as file:
        subprocess.run([mille, "compile", model, "--name=m", "--stop-after=fuse"]
                       + options(folder), stdout=file, stderr=subprocess.PIPE, check=True)
    return fused


def check_emulated(mille, _, model, folder, dtype, work):
    """As check(), of kernels for Hopper in the emulator."""
    fused = fused_model(mille, model, folder, work)
    ran = subprocess.run([mille + "-emulate", fused, "--dtype=" + dtype, "--inputs",
                          os.path.join(folder, "inputs.safetensors")],
                         capture_output=True, text=True)
    _, _, whole = ran.stdout.partition("beside the model in f32")
    found = [[float(x) for x in m] for m in LINE.findall(whole)]
    if not found:
        return False, ran.stderr.strip() or ran.stdout, 0
    return (ran.returncode == 0, max(error / most if most else 0 for error, most, _ in found),
            min(cosine for _, _, cosine in found))


def check_in_double(mille, _, model, folder, dtype, work):
    """As check(), of the program in double; there is no bound to be within."""
    results = []
    try:
        fused = fused_model(mille, model, folder, work)
        narrow = os.path.join(work, "narrow.mlir")
        with open(narrow, "w") as file:
            subprocess.run([mille + "-opt", "--narrow-types=dtype=" + dtype, fused],
                           stdout=file, stderr=subprocess.PIPE, check=True)
        for path in fused, narrow:
            results.append(path + ".outputs")
            subprocess.run([mille, "run", path, "--target=reference", "--inputs",
                            os.path.join(folder, "inputs.safetensors"), "--outputs",
                            results[-1]], stderr=subprocess.PIPE, check=True)
    except subprocess.CalledProcessError as error:
        return False, error.stderr.decode().strip(), 0
    wanted, got = map(load, results)
    return True, relative_error(wanted, got), least_cosine(wanted, got)


def main(mille, target, judge, dtypes, parts):
    outside = 0
    for dtype in dtypes:
        worst = (1, "")
        count = 0
        for name, model, folder in cases():
            if parts and not any(part in name for part in parts):
                continue
            with tempfile.TemporaryDirectory() as package:
                good, error, cosine = judge(mille, target, model, folder, dtype,
                                            os.path.join(package, "p"))
            count += 1
            outside += not good
            worst = min(worst, (cosine, name))
            print("%s %-40s error %s cosine %.6f%s" % (
                dtype, name, error if isinstance(error, str) else "%.4f" % error,
                cosine, "" if good else "  OUTSIDE"), flush=True)
        print("%s: %d cases, least cosine %.6f in %s" % (dtype, count, *worst))
    sys.exit(outside > 0)


parser = argparse.ArgumentParser()
parser.add_argument("--target", default="host")
parser.add_argument("--reference", dest="judge", action="store_const", default=check,
                    const=check_in_double)
parser.add_argument("--emulate", dest="judge", action="store_const",
                    const=check_emulated)
parser.add_argument("--dtype", choices=("bf16", "f16", "int8", "fp8", "q8_0", "q4_0"),
                    help="default: bf16 and int8")
parser.add_argument("mille")
parser.add_argument("parts", nargs="*")
wanted = parser.parse_args()
main(wanted.mille, wanted.target, wanted.judge,
     [wanted.dtype] if wanted.dtype else ["bf16", "int8"],
     wanted.parts)
