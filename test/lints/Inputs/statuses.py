# RUN lines that expect `mille` or `mille-opt` to fail with lit's `not`, which takes any
# status: `mille` ends a crash with status 4, as a bug of ours. %refuses demands one.
# `mille verify` has status 4 where it finds numbers that differ: tests read which.
import glob
import os
import re
import sys

tests = os.path.join(sys.argv[1], "test")
refusals = failures = 0
for path in sorted(glob.glob(os.path.join(tests, "**", "*.*"), recursive=True)):
    if not path.endswith((".test", ".mlir", ".c", ".cpp", ".ll")):
        continue
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if "RUN:" not in line:
                continue
            refusals += len(re.findall(r"%refuses [123] ", line))
            if re.search(r"\bnot (?:env (?:\S+=\S+ )+)?%mille(?:-opt)?(?![\w-])(?! verify )", line):
                print("%s:%d: `not` takes a crash for a refusal: use %%refuses"
                      % (os.path.relpath(path, sys.argv[1]), number))
                failures += 1
print("%d refusals, %d failures" % (refusals, failures))
