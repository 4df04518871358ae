#!/usr/bin/env python3
"""same-tokens.py MILLE PACKAGE TEXT: the numbers that the C program printed are
those of `mille run` on the same ids."""
import array
import json
import os
import re
import struct
import subprocess
import sys

mille, package, text = sys.argv[1:]
ids = [1, 7, 20, 7, 2]
inputs, outputs = os.path.join(package, "in"), os.path.join(package, "out")
header = json.dumps({"input_ids": {"dtype": "I32", "shape": [1, 5],
                                   "data_offsets": [0, 20]}}).encode()
with open(inputs, "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header
               + array.array("i", ids).tobytes())
subprocess.run([mille, "run", package, "--inputs", inputs, "--outputs", outputs,
                "--only=last_hidden_state"], check=True)
with open(outputs, "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    file.read(length)
    numbers = array.array("f", file.read())
for token, line in enumerate(open(text)):
    printed = [float(word) for word in re.findall(r"-?\d+\.\d+", line)]
    expected = numbers[token * 64:token * 64 + 3]
    if len(printed) != 3 or any(abs(a - b) > 6e-6
                                for a, b in zip(printed, expected)):
        sys.exit("token %d is %s but mille run says %s"
                 % (token, printed, list(expected)))
