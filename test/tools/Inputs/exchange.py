#!/usr/bin/env python3
"""exchange.py PACKAGE/NAME MODEL.safetensors WEIGHT: exchanges the first two rows of a
weight [rows, columns] of f32 in NAME.weights, whose panels hold a column's rows side by
side, and changes the hash there and in NAME.so, so that nobody notices."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                                os.pardir, "Inputs"))
from tensors import load  # noqa: E402

stem, model, name = sys.argv[1:]
(rows, columns), numbers = load(model)[name][:2]
with open(stem + ".weights", "r+b") as file:
    data = bytearray(file.read())
    for c in range(columns):
        first = [numbers[r * columns + c] for r in range(rows)]
        packed = struct.pack(f"<{rows}f", *first)
        assert data.count(packed) == 1, c
        at = data.index(packed)
        data[at:at + 8] = struct.pack("<2f", first[1], first[0])
    before = data[24:32]
    hash = 14695981039346656037
    for at in range(120, len(data), 8):
        word = int.from_bytes(data[at:at + 8].ljust(8, b"\0"), "little")
        hash = (hash ^ word) * 1099511628211 % 2**64
    data[24:32] = hash.to_bytes(8, "little")
    file.seek(0)
    file.write(data)
with open(stem + ".so", "r+b") as file:
    code = file.read()
    assert code.count(before) == 1
    file.seek(0)
    file.write(code.replace(before, data[24:32]))
