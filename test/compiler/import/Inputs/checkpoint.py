"""Writes zeros as a trainer's checkpoint has them: checkpoint.py MODEL.mlir OUT [WITHOUT]

A tensor for each parameter of the model, under its own name, but for WITHOUT.
"""
import json
import re
import struct
import sys

text, out, *without = sys.argv[1:]
header = {"__metadata__": {"format": "mille-checkpoint 1", "names": "mille"}}
size = 0
with open(text) as file:
    for name, extents in re.findall(
            r"transformer\.parameter @(\S+) : tensor<([0-9x]+)xf32>", file.read()):
        shape = [int(extent) for extent in extents.split("x")]
        count = 4
        for extent in shape:
            count *= extent
        if name not in without:
            header[name] = {"dtype": "F32", "shape": shape,
                            "data_offsets": [size, size + count]}
            size += count
head = json.dumps(header).encode()
with open(out, "wb") as file:
    file.write(struct.pack("<Q", len(head)) + head + bytes(size))
