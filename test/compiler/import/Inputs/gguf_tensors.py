"""Small tensors of f32 and their safetensors files. Standard library only."""
import array
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                *[os.pardir] * 3, "Inputs"))
import tensors  # noqa: E402


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
    return {name: Tensor(shape, numbers)
            for name, (shape, numbers, _) in tensors.load(path).items()}


def save(path, values):
    tensors.save(path, {name: ("F32", tensor.shape, tensor.numbers.tobytes())
                        for name, tensor in values.items()})
