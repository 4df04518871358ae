#!/usr/bin/env python3
"""Greedy texts of a package beside a llama.cpp on the same numbers (of PyPI's
ik-llama-cpp-python): each of our ids must be its likeliest one, or as likely within
MARGIN of its largest logit.

  generate-real.py MILLE PACKAGE WIDE.gguf MARGIN [TOKENS]
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))
import llamacpp
from prompts import PROMPTS, encoded, greedy

mille, package, wide, margin = sys.argv[1:5]
most = sys.argv[5] if len(sys.argv) > 5 else "64"


def main():
    other, same, near, tokens = llamacpp.Model(wide), 0, 0, 0
    for prompt in PROMPTS:
        start = encoded(mille, package, prompt)
        ids = greedy(mille, package, prompt, most)
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
