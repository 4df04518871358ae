#!/usr/bin/env python3
"""promises.py RESULTS.json: the promises, each with how many of its tests passed.

RESULTS.json is what tools/check.sh leaves in build/test. A promise whose tests did not
all pass, or of which none ran, is told, and the exit status is then 1. The numbers are
those of the file; what a test itself counts, its RUN lines demand.
"""
import json
import re
import sys

# number, promise, what the names of its tests match
PROMISES = [
    ("P1", "every malformed input gets a sentence with a place, and exit 1",
     r"badfiles/|fuzz/|tools/manifest|tools/mille-opt-deep|text/errors"),
    ("P2", "every sentence of a dialect is expected by a test",
     r"lints/messages"),
    ("P3", "every op has a meaning that runs, every constraint a test",
     r"compiler/interpret/|lints/(labels|verifiers)"),
    ("P4", "every pass keeps the meaning",
     r"models/|compiler/fuse/|compiler/rewrite/"),
    ("P5", "accuracy is stated and kept",
     r"numerics/|compiler/halide/|conformance/"),
    ("P6", "kernels touch no byte outside their tensors",
     r"compiler/halide/|numerics/|runtime/sanitize-address"),
    ("P7", "kernels write every byte and read no unwritten one",
     r"runtime/embed|numerics/"),
    ("P8", "same input, same bits: threads, batches, places",
     r"runtime/(same-bits|embed|runs|states)|tools/(cuts|extend|dtype)"),
    ("P9", "same model, same bytes out", r"link/(same-bytes|anywhere)"),
    ("P11", "files appear whole or not at all",
     r"link/(kill|no-room|restore|interrupt)"),
    ("P12", "memory, threads and files refused: a status, no leak",
     r"runtime/refusal"),
    ("P13", "weights are checked before use",
     r"runtime/weights|tools/weights|badfiles/safetensors"),
    ("P14", "sessions on one model do not disturb each other",
     r"runtime/(threads|sanitize-thread)"),
    ("P15", "cancel and interrupts work",
     r"(tools|link)/interrupt|runtime/threads|generation/"),
    ("P16", "no silent fallback", r"tools/(remarks|report|require-fused)"),
    ("P17", "a bug of ours comes with a reproducer", r"tools/reproducer"),
    ("P18", "code and kernels do not grow with layers",
     r"fuse/depth|lower/|tools/opencl-depth"),
    ("P19", "passes twice are passes once; what is printed reads back",
     r"driver/twice|dialects/"),
    ("P20", "packages stay readable", r"tools/kept-packages"),
    ("P21", "the right machine, or a clear no",
     r"tools/(lacking|devices)|runtime/weights"),
]
UNTESTED = "P10 (a reproducible build) and P22 (mutation, coverage) are tested by hand."


def main():
    tests = []
    for path in sys.argv[1:]:
        with open(path) as file:
            tests += json.load(file)["tests"]
    width = max(len(promise) for _, promise, _ in PROMISES)
    broken = 0
    for number, promise, pattern in PROMISES:
        codes = [test["code"] for test in tests if re.search(pattern, test["name"])]
        passed = codes.count("PASS")
        absent = codes.count("UNSUPPORTED")  # their REQUIRES names what is lacking
        failed = len(codes) - passed - absent
        broken += failed > 0 or passed == 0
        print(f"{number:4}{promise:{width}}  {passed:4} passed"
              + (f", {absent} not here" if absent else "")
              + (f", {failed} FAILED" if failed else "")
              + (", NOT TESTED" if not passed else ""))
    print(UNTESTED)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
