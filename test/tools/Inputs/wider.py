#!/usr/bin/env python3
"""wider.py SPEC CHANNELS [WORDS]: the spec with so many channels, drawn weights, and where
it is given a tied vocabulary."""
import json
import sys

with open(sys.argv[1]) as file:
    spec = json.load(file)
spec["hidden_size"] = int(sys.argv[2])
if len(sys.argv) > 3:
    spec["vocab_size"] = int(sys.argv[3])
    spec["head"]["tied"] = True
spec["name"] = "wide"
spec["init"] = {"scheme": "bert", "seed": 1}
json.dump(spec, sys.stdout)
