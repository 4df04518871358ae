#!/usr/bin/env python3
"""wider.py SPEC CHANNELS: the spec with so many channels, and drawn weights."""
import json
import sys

with open(sys.argv[1]) as file:
    spec = json.load(file)
spec["hidden_size"] = int(sys.argv[2])
spec["name"] = "wide"
spec["init"] = {"scheme": "bert", "seed": 1}
json.dump(spec, sys.stdout)
