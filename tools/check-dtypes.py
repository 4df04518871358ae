#!/usr/bin/env python3
"""Every case of test/conformance in bf16 and int8, by `mille verify`: a line for each,
the worst at the end. Longer than the gate may take; test/tools/dtype.test has three.
Exit status 0 when every one is within its bound.

  check-dtypes.py [--target=opencl] [--dtype=int8] build/bin/mille [PART-OF-A-NAME...]
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "test",
                    "conformance")
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


def main(mille, target, dtypes, parts):
    outside = 0
    for dtype in dtypes:
        worst = (1, "")
        count = 0
        for name, model, folder in cases():
            if parts and not any(part in name for part in parts):
                continue
            with tempfile.TemporaryDirectory() as package:
                good, error, cosine = check(mille, target, model, folder, dtype,
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
parser.add_argument("--dtype", choices=("bf16", "int8"), help="default: both")
parser.add_argument("mille")
parser.add_argument("parts", nargs="*")
wanted = parser.parse_args()
main(wanted.mille, wanted.target, [wanted.dtype] if wanted.dtype else ["bf16", "int8"],
     wanted.parts)
