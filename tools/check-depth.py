#!/usr/bin/env python3
"""check-depth.py MILLE [--train] [LAYERS ...]: what compiling costs by depth.

Compiles a small encoder of 1, 2, 4, ... 1000 layers, or of the given ones, whose kernels
are in the cache, and prints CPU seconds, the most memory and the bytes of each package,
then how they grow: the largest exponent e of cost ~ layers^e between a depth and one that
is at least four times it. Exit status 0 when time and memory grow with at most 1.1, and
code not at all. A test of the gate takes two depths. --train: packages that train.
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
SPEC = os.path.join(ROOT, "test", "conformance", "native", "pre_layer_norm", "spec.json")
MOST = 1.1
TIMES = 3  # the least of so many: other programs only add


def compiled(mille, folder, layers, options):
    """CPU seconds, kilobytes, and bytes of code and of weights."""
    with open(SPEC) as file:
        spec = json.load(file)
    spec["layers"] = layers
    model = os.path.join(folder, "spec.json")
    with open(model, "w") as file:
        json.dump(spec, file)
    package = os.path.join(folder, "package")
    best = (math.inf, math.inf)
    for _ in range(TIMES):
        child = os.fork()
        if child == 0:
            with open(os.devnull, "w") as nothing:
                os.dup2(nothing.fileno(), 2)
                os.execvp(mille, [mille, "compile", model, "-o", package, "--name=deep",
                                  "--target=host", "--weights=random:1"] + options)
        _, status, used = os.wait4(child, 0)
        if status:
            sys.exit("check-depth: %d layers: status %d" % (layers, status))
        best = (min(best[0], used.ru_utime + used.ru_stime), min(best[1], used.ru_maxrss))
    size = lambda end: os.path.getsize(os.path.join(package, "deep." + end))
    text = subprocess.run([shutil.which("llvm-size") or "size", "-A",
                           os.path.join(package, "deep.so")], check=True,
                          capture_output=True, text=True).stdout
    text = re.search(r"^\.text +([0-9]+)", text, re.M)[1]
    return best + (int(text), size("weights"))


def exponent(depths, costs):
    return max(math.log(costs[j] / costs[i]) / math.log(depths[j] / depths[i])
               for i in range(len(depths)) for j in range(i, len(depths))
               if depths[j] >= 4 * depths[i])


def main(mille, depths, options):
    with tempfile.TemporaryDirectory() as folder:
        compiled(mille, folder, depths[0], options)  # kernels come into the cache
        found = []
        for layers in depths:
            found.append(compiled(mille, folder, layers, options))
            print("%4d layers: %.2f s, %d KB, code %d, weights %d"
                  % ((layers,) + found[-1]), flush=True)
    seconds, memory, code, _ = zip(*found)
    grown = {"time": exponent(depths, seconds), "memory": exponent(depths, memory)}
    for what, value in grown.items():
        print("%s grows with exponent %.2f, of at most %.1f: %s"
              % (what, value, MOST, "ok" if value <= MOST else "GROWS"))
    # The number of layers is a constant, whose parity moves a loop by a few bytes.
    # A step that trains has it in several loops.
    same = max(code) - min(code) <= (256 if "--train" in options else 64)
    print("code %s" % ("equal" if same else "GROWS"))
    return not same or max(grown.values()) > MOST


if __name__ == "__main__":
    given = [word for word in sys.argv[2:] if word != "--train"]
    sys.exit(main(sys.argv[1], [int(word) for word in given] or
                  [1, 2, 4, 8, 16, 32, 64, 125, 250, 500, 1000],
                  ["--train"] * ("--train" in sys.argv)))
