"""Writes FOLDER/a.safetensors: small tensors of every floating type."""
import array
import json
import os
import struct
import sys


def floats(code, numbers):
    return array.array(code, numbers).tobytes()


def bf16(numbers):
    return b"".join(struct.pack("<f", number)[2:] for number in numbers)


def f16(numbers):
    return b"".join(struct.pack("<e", number) for number in numbers)


TENSORS = {
    "m": ("F32", [4, 6], floats("f", range(24))),
    "rows": ("F32", [4], floats("f", [1, 2, 3, 4])),
    "cube": ("F32", [2, 3, 2], floats("f", range(12))),
    "wide": ("F64", [3], floats("d", [0.1, 1e300, -0.0])),
    "brain": ("BF16", [4], bf16([1.5, -3, 1e30, float("-inf")])),
    "half": ("F16", [6], f16([1.5, -2, 2 ** -24, 65504, float("inf"), 0.1])),
    "whole": ("I64", [2], floats("q", [1, -2])),
    "big": ("F32", [100, 70], floats("f", range(7000))),
}
header, data = {}, b""
# An odd pad first: elements need not be aligned.
header["pad"] = {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]}
data += b"pad"
for name, (dtype, shape, content) in TENSORS.items():
    header[name] = {"dtype": dtype, "shape": shape,
                    "data_offsets": [len(data), len(data) + len(content)]}
    data += content
text = json.dumps(header).encode()
with open(os.path.join(sys.argv[1], "a.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
