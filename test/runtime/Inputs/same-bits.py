#!/usr/bin/env python3
"""Runs a package on 1, 2, 3 and 7 threads with batches of 1 to 17 sequences.

  same-bits.py MILLE PACKAGE FOLDER TENSORS TOKENS [RUNS]

Batch b holds b of 17 sequences, and begins with another one each time; every
sequence must have the bits that it has alone on one thread. With RUNS so many times,
and on 16 threads too.
"""
import itertools
import os
import random
import subprocess
import sys

mille, package, folder, tensors_path, tokens = sys.argv[1:6]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(tensors_path))
import tensors  # noqa: E402

draw = random.Random(1)
sequences = [[draw.randrange(32) for _ in range(int(tokens))] for _ in range(17)]
inputs, outputs = os.path.join(folder, "in"), os.path.join(folder, "out")


def run(chosen, threads):
    """The bytes of each chosen sequence's outputs."""
    numbers = ",".join(str(n) for i in chosen for n in sequences[i])
    tensors.make(inputs, [f"input_ids:i32:{len(chosen)}x{tokens}={numbers}"])
    subprocess.run([mille, "run", package, "--inputs", inputs, "--outputs", outputs,
                    f"--threads={threads}"], check=True)
    found = [b""] * len(chosen)
    for _, (_, _, block) in sorted(tensors.load(outputs).items()):
        size = len(block) // len(chosen)
        for place in range(len(chosen)):
            found[place] += block[place * size:(place + 1) * size]
    return found


alone = [run([i], 1)[0] for i in range(17)]
assert len(set(alone)) == 17, "sequences that are all alike show nothing"
pairs = list(itertools.product((1, 2, 3, 7), range(1, 18)))
if len(sys.argv) > 6:
    pairs += itertools.product([16], range(1, 18))
wanted = int(sys.argv[6]) if len(sys.argv) > 6 else len(pairs)
runs = differing = 0
for threads, batch in itertools.islice(itertools.cycle(pairs), wanted):
    chosen = [(5 * batch + i + runs // len(pairs)) % 17 for i in range(batch)]
    runs += 1
    if run(chosen, threads) != [alone[i] for i in chosen]:
        differing += 1
        print(f"batch {batch} on {threads} threads: other bits than alone")
print(f"{runs} runs, {differing} differ")
sys.exit(differing > 0 or not runs)
