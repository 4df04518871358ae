#!/usr/bin/env python3
"""each-alone.py MILLE FOLDER TENSORS TEXT: the logits that two.c printed are, bit by
bit, those of `mille run` of each package alone."""
import os
import struct
import subprocess
import sys

mille, folder, tensors, text = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(tensors))
import tensors as files  # noqa: E402

inputs, outputs = os.path.join(folder, "in"), os.path.join(folder, "out")
files.make(inputs, ["input_ids:i32:1x3=1,2,3"])
compared = 0
for line in open(text):
    name, *words = line.split()
    subprocess.run([mille, "run", os.path.join(folder, name), "--inputs", inputs,
                    "--outputs", outputs], check=True)
    expected = files.load(outputs)["logits"][2]
    if b"".join(struct.pack("f", float(word)) for word in words) != expected:
        sys.exit(f"{name}: other bits than alone")
    compared += len(words)
print(f"{compared} numbers are those of each alone")
