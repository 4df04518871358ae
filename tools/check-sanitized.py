#!/usr/bin/env python3
"""Every case of test/conformance through the compiler under AddressSanitizer and UBSan, as
far as the host program, for several targets, types and entries.

  check-sanitized.py

Builds the preset `asan` (build-asan) with the project's own assertions. A report, a crash or
a status of 4 is a failure, and so is the exit status then; a case that is refused with a
sentence is counted. By hand: 20 minutes of a core to build, and 25 to run.
"""
import os
import subprocess
import sys

from tested_cases import cases

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
COMPILER = os.path.join(ROOT, "build-asan", "bin", "mille")
WORDS = (
    "--target=host --dtype=f32",
    "--target=cuda --dtype=bf16 --hidden-states",
    "--target=x86-64-v3,opencl --dtype=int8",
    "--target=host --dtype=q4_k --entries=all",
    "--target=cuda --dtype=bf16 --entries=all",
    "--target=cuda --dtype=fp8",
    "--target=sapphirerapids --dtype=bf16 --entries=all --cache=int8",
    "--target=host --dtype=f32 --train --recompute=layer",
    "--target=sapphirerapids --dtype=bf16 --train",
    "--target=host --dtype=f32 --rewrites=all --image-size=any",
)
# What MLIR allocates for good is no fault of a run.
ENVIRONMENT = dict(
    os.environ, ASAN_OPTIONS="detect_leaks=0:allow_user_poisoning=0:exitcode=99")


def build():
    flags = ["-DCMAKE_%s_FLAGS_RELEASE=-O1" % language for language in ("C", "CXX")]
    subprocess.run(["cmake", "--preset", "asan", *flags], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "build-asan", "--target", "mille"], cwd=ROOT,
                   check=True)


def main():
    build()
    failures = 0
    for words in WORDS:
        refused = 0
        for name, model in cases():
            run = subprocess.run(
                [COMPILER, "compile", model, "--stop-after=lower", *words.split()],
                env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                text=True, errors="replace")
            refused += run.returncode in (1, 2, 3)
            if (run.returncode not in (0, 1, 2, 3) or "Sanitizer" in run.stderr
                    or "runtime error" in run.stderr):
                failures += 1
                print(f"{name} {words}: status {run.returncode}\n{run.stderr[:4000]}")
        print(f"{words}: {refused} refused", flush=True)
    print(f"{failures} failed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
