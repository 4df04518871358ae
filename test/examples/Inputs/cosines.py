#!/usr/bin/env python3
"""cosines.py INPUTS WANTED GOT BOUND: each sentence's mean of `last_hidden_state` has at
least this cosine with the one that is wanted."""
import math
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))
import tensors  # noqa: E402

inputs, wanted, got = (tensors.load(path) for path in sys.argv[1:4])
bound = float(sys.argv[4])
_, mask, _ = inputs["attention_mask"]


def means(of):
    """A vector for each sentence."""
    (sentences, tokens, channels), states, _ = of["last_hidden_state"]
    for s in range(sentences):
        rows = [r for r in range(s * tokens, (s + 1) * tokens) if mask[r]]
        yield [math.fsum(states[r * channels + c] for r in rows) / len(rows)
               for c in range(channels)]


def cosine(a, b):
    dot = lambda x, y: math.fsum(p * q for p, q in zip(x, y))
    return dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))


cosines = [cosine(a, b) for a, b in zip(means(wanted), means(got), strict=True)]
print(" ".join(f"{1 - c:.3g}" for c in cosines), "below 1")
sys.exit(not (cosines and all(c >= bound for c in cosines)))
