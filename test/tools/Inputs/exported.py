"""exported.py ONE OTHER [ONLY]: the tensors of two safetensors files have the same
names, shapes and bytes; those of OTHER alone are allowed with ONLY.
exported.py numbers ONE OTHER: the outputs of two runs are the same numbers."""
import json
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


if sys.argv[1] == "numbers":
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
