"""Tokens of a Markov chain: 64 states, each with four equally likely successors.
The best loss is ln 4 = 1.386; who knows how often a state comes, but not what came
before it, has about 4.0.

usage: chain.py FILE COUNT [SEED]     writes COUNT tokens of two bytes
"""
import random
import struct
import sys

path, count = sys.argv[1], int(sys.argv[2])
successors = random.Random(7)
table = [successors.sample(range(64), 4) for _ in range(64)]
draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
state, tokens = 0, []
for _ in range(count):
    state = draw.choice(table[state])
    tokens.append(state)
with open(path, "wb") as file:
    file.write(struct.pack("<%dH" % count, *tokens))
