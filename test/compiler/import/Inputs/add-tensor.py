"""Copies a safetensors file with one more tensor: add-tensor.py FROM TO NAME"""
import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    header, data = json.loads(file.read(length)), file.read()
header[sys.argv[3]] = {"dtype": "F32", "shape": [1], "data_offsets": [len(data), len(data) + 4]}
text = json.dumps(header).encode()
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data + bytes(4))
