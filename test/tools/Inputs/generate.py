#!/usr/bin/env python3
"""`mille generate` of a conformance case, beside the reference: each id of a greedy
answer is the argmax of the reference's forward on all ids before it.

  generate.py MILLE PACKAGE CASE WORK IDS
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import extend
import tensors  # extend has put its folder on the path

mille, package, case, work, start = sys.argv[1:]
os.makedirs(work, exist_ok=True)


def generated(*options):
    ran = subprocess.run([mille, "generate", package, f"--ids={start}", "--json",
                          "--max-tokens=12", *options], capture_output=True, text=True,
                         check=True)
    return [json.loads(line)["id"] for line in ran.stdout.splitlines()]


ids = [int(word) for word in start.split(",")]
greedy = generated("--temperature=0", "--threads=1")
assert len(greedy) == 12, greedy
files = [os.path.join(work, name) for name in ("in", "out")]
for number, chosen in enumerate(greedy):
    row = ids + greedy[:number]
    tensors.save(files[0], {"input_ids": extend.ints([row])})
    subprocess.run([mille, "run", case, "--target=reference", "--inputs", files[0],
                    "--outputs", files[1], "--only=logits"], check=True)
    shape, logits, _ = tensors.load(files[1])["logits"]
    last = list(logits[-shape[2]:])
    best = max(last)
    assert last[chosen] >= best - 1e-4 * max(1, abs(best)), (number, chosen, best)
assert greedy == generated("--temperature=0", "--threads=3", "--context=50")
drawn = generated("--temperature=2", "--seed=5", "--threads=1")
assert drawn == generated("--temperature=2", "--seed=5", "--threads=2")
others = [generated("--temperature=2", f"--seed={seed}") for seed in range(6, 10)]
assert any(other != drawn for other in others)
print(f"{len(greedy)} ids are the reference's; draws repeat by their seed")
