"""many_weights.py SPEC: prints the spec with layers of 4096 experts of 2^46 numbers."""
import json
import sys

with open(sys.argv[1]) as file:
    spec = json.load(file)
spec["layers"], spec["hidden_size"] = 16, 1 << 23
for unit in spec["units"]:
    for branch in unit["branches"]:
        if branch["kind"] == "ffn":
            branch["intermediate_size"] = 1 << 23
            branch["experts"] = {"count": 4096, "chosen": 1}
print(json.dumps(spec, indent=1))
