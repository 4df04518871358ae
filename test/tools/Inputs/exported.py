"""exported.py ONE OTHER [ONLY]: the tensors of two safetensors files have the same
names, shapes and bytes; those of OTHER alone are allowed with ONLY.
exported.py numbers ONE OTHER: the outputs of two runs are the same numbers.
exported.py zeros MODEL.mlir OUT: zeros under the names of the model's parameters."""
import json
import math
import re
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: (one["shape"], data[slice(*one["data_offsets"])])
            for name, one in header.items()}


def zeros(model, out):
    header, at = {"__metadata__": {"names": "mille"}}, 0
    with open(model) as file:
        found = re.findall(r'transformer.parameter @"?([^" ]+)"? : tensor<([0-9x]+)xf32>',
                           file.read())
    for name, sizes in found:
        shape = [int(size) for size in sizes.split("x")]
        end = at + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    with open(out, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(at))


if sys.argv[1] == "zeros":
    zeros(*sys.argv[2:])
elif sys.argv[1] == "numbers":
    one, other = read(sys.argv[2]), read(sys.argv[3])
    for name in one:
        values = [struct.unpack(f"<{len(bytes_) // 4}f", bytes_)
                  for _, bytes_ in (one[name], other[name])]
        apart = max(abs(a - b) for a, b in zip(*values))
        most = max(map(abs, values[0]))
        assert apart <= 1e-6 * most, f"{name}: {apart} apart, of {most}"
    print(f"{len(one)} outputs agree")
else:
    one, other = read(sys.argv[1]), read(sys.argv[2])
    assert set(one) <= set(other) and (len(sys.argv) > 3 or len(one) == len(other)), \
        set(one) ^ set(other)
    for name, tensor in one.items():
        assert tensor == other[name], f"{name} differs"
    print(f"{len(one)} tensors are equal")
