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
from weights_file import change  # noqa: E402

stem, model, name = sys.argv[1:]
(rows, columns), numbers = load(model)[name][:2]


def exchange(data):
    for c in range(columns):
        first = [numbers[r * columns + c] for r in range(rows)]
        packed = struct.pack(f"<{rows}f", *first)
        assert data.count(packed) == 1, c
        at = data.index(packed)
        data[at:at + 8] = struct.pack("<2f", first[1], first[0])


change(stem, exchange)
