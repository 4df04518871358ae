#!/usr/bin/env python3
"""check-depth.py MILLE [--train] [LAYERS ...]: what compiling costs by depth.

Compiles a small encoder of 1, 2, 4, ... 1000 layers, or of the given ones, whose kernels
are in the cache, and prints CPU seconds, the most memory and the bytes of each package,
then how they grow: the largest exponent e of cost ~ layers^e between a depth and one that
is at least four times it. Exit status 0 when time and memory grow with at most 1.1, and
code not at all; memory beyond that of a compile of one layer, which is most of it and
would hide what grows, with at most 1.25. A test of the gate takes two depths. --train:
packages that train.
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
BEYOND = 1.25  # for the difference of two numbers
SEEN = 2048  # kilobytes: less is lost in what runs differ by
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


def exponent(depths, costs, least=0):
    """Of the costs that are above `least`."""
    depths, costs = zip(*[pair for pair in zip(depths, costs) if pair[1] > least])
    return max(math.log(costs[j] / costs[i]) / math.log(depths[j] / depths[i])
               for i in range(len(depths)) for j in range(i, len(depths))
               if depths[j] >= 4 * depths[i])


def main(mille, depths, options):
    with tempfile.TemporaryDirectory() as folder:
        compiled(mille, folder, 1, options)  # kernels come into the cache
        one = compiled(mille, folder, 1, options)
        found = []
        for layers in depths:
            found.append(compiled(mille, folder, layers, options))
            print("%4d layers: %.2f s, %d KB, code %d, weights %d"
                  % ((layers,) + found[-1]), flush=True)
    seconds, memory, code, _ = zip(*found)
    beyond = [kilobytes - one[1] for kilobytes in memory]
    grown = [("time", exponent(depths, seconds), MOST),
             ("memory", exponent(depths, memory), MOST),
             ("memory beyond one layer's", exponent(depths, beyond, SEEN), BEYOND)]
    for what, value, most in grown:
        print("%s grows with exponent %.2f, of at most %.4g: %s"
              % (what, value, most, "ok" if value <= most else "GROWS"))
    # The number of layers is a constant, whose parity moves a loop by a few bytes.
    # A step that trains has it in several loops.
    same = max(code) - min(code) <= (256 if "--train" in options else 64)
    print("code %s" % ("equal" if same else "GROWS"))
    return not same or any(value > most for _, value, most in grown)


if __name__ == "__main__":
    given = [word for word in sys.argv[2:] if word != "--train"]
    sys.exit(main(sys.argv[1], [int(word) for word in given] or
                  [1, 2, 4, 8, 16, 32, 64, 125, 250, 500, 1000],
                  ["--train"] * ("--train" in sys.argv)))
