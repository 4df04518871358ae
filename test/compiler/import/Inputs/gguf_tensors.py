"""Small tensors of f32 and their safetensors files. Standard library only."""
import array
import json
import math
import struct


class Tensor:
    def __init__(self, shape, numbers):
        self.shape, self.numbers = list(shape), array.array("f", numbers)
        assert len(self.numbers) == math.prod(shape)

    def rows(self, order):
        width = len(self.numbers) // self.shape[0]
        numbers = array.array("f")
        for row in order:
            numbers += self.numbers[row * width:(row + 1) * width]
        return Tensor([len(order)] + self.shape[1:], numbers)

    def transposed(self):
        """The last two dimensions exchanged."""
        *lead, m, n = self.shape
        numbers = array.array("f")
        for base in range(0, len(self.numbers), m * n):
            for j in range(n):
                numbers += self.numbers[base + j:base + m * n:n]
        return Tensor(lead + [n, m], numbers)

    def of(self, shape):
        return Tensor(shape, self.numbers)


def stacked(tensors):
    return Tensor([len(tensors)] + tensors[0].shape,
                  [x for tensor in tensors for x in tensor.numbers])


def load(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F32", name
        begin, end = entry["data_offsets"]
        numbers = array.array("f")
        numbers.frombytes(data[begin:end])
        tensors[name] = Tensor(entry["shape"], numbers)
    return tensors


def save(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        block = tensor.numbers.tobytes()
        header[name] = {"dtype": "F32", "shape": tensor.shape,
                        "data_offsets": [len(data), len(data) + len(block)]}
        data += block
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
