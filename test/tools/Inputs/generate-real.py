#!/usr/bin/env python3
"""Greedy texts of a package beside a llama.cpp on the same numbers (of PyPI's
ik-llama-cpp-python): each of our ids must be its likeliest one, or as likely within
MARGIN of its largest logit.

  generate-real.py MILLE PACKAGE WIDE.gguf MARGIN [TOKENS]
"""
import json
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))
import llamacpp

PROMPTS = """The capital of France is
Once upon a time, there was
def fibonacci(n):
The three primary colours are
Water boils at
In 1969, the first
My favourite recipe begins with
The theory of evolution
1, 2, 3, 4,
Dear Sir or Madam,
The best way to learn a language is
Photosynthesis is the process by which
To be, or not to be,
The largest planet in the solar system
import numpy as np
If all cats are animals, then
The weather today
A triangle has three sides and
Question: what is the opposite of hot? Answer:
She opened the door and""".split("\n")

mille, package, wide, margin = sys.argv[1:5]
most = sys.argv[5] if len(sys.argv) > 5 else "64"


def lines(*command):
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return ran.stdout.strip().split("\n")


def main():
    other, same, near, tokens = llamacpp.Model(wide), 0, 0, 0
    for prompt in PROMPTS:
        start = [int(id) for id in lines(mille, "tokens", package,
                                         "--encode=" + prompt)[0].split(",")]
        ids = [json.loads(line)["id"] for line in
               lines(mille, "generate", package, "--prompt=" + prompt, "--json",
                     "--temperature=0", "--max-tokens=" + most)]
        logits = other.logits(start + ids[:-1])[len(start) - 1:]
        gaps = [(row.max() - row[id]) / np.abs(row).max()
                for row, id in zip(logits, ids)]
        same += all(gap == 0 for gap in gaps)
        near += sum(0 < gap <= float(margin) for gap in gaps)
        tokens += len(ids)
        if max(gaps) > float(margin):
            sys.exit(f"{prompt!r}: token {gaps.index(max(gaps))} is {max(gaps):.3g} of "
                     "the largest logit below llama.cpp's likeliest one")
    print(f"{tokens} tokens of {len(PROMPTS)} prompts: {same} texts are llama.cpp's "
          f"greedy ones, {near} tokens are as likely within {margin}")


main()
