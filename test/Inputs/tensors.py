#!/usr/bin/env python3
"""Makes, prints and compares safetensors files. Standard library only.

  tensors.py make FILE NAME:TYPE:SHAPE=NUMBERS ...   x:f32:1x2x4=1,2,3,4,5,6,7,8
  tensors.py print FILE [NAME ...]                   numbers with 7 digits
  tensors.py same FILE FILE                          bit by bit
  tensors.py close FILE FILE ROW        within a row of tolerances.json

TYPE is f64, f32, i64 or i32. Fewer numbers than the shape holds repeat.
"""
import array
import json
import math
import os
import struct
import sys

FORMATS = {"f64": "d", "f32": "f", "i64": "q", "i32": "i"}
TOLERANCES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          os.pardir, os.pardir, "compiler", "interpret",
                          "tolerances.json")


def make(path, words):
    values = {}
    for word in words:
        name, kind, rest = word.split(":", 2)
        shape_text, numbers_text = rest.split("=")
        shape = [int(extent) for extent in shape_text.split("x")]
        read = float if kind[0] == "f" else int
        numbers = [read(number) for number in numbers_text.split(",")]
        count = math.prod(shape)
        numbers = (numbers * (count // len(numbers) + 1))[:count]
        values[name] = (kind.upper(), shape,
                        array.array(FORMATS[kind], numbers).tobytes())
    save(path, values)


def save(path, values):
    """values: by name (dtype, shape, bytes)."""
    header, data = {}, b""
    for name, (kind, shape, block) in values.items():
        header[name] = {"dtype": kind, "shape": list(shape),
                        "data_offsets": [len(data), len(data) + len(block)]}
        data += block
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def load(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        numbers = array.array(FORMATS[entry["dtype"].lower()])
        numbers.frombytes(data[begin:end])
        tensors[name] = (entry["shape"], numbers, data[begin:end])
    return tensors


def show(path, names):
    tensors = load(path)
    for name in names or sorted(tensors):
        shape, numbers, _ = tensors[name]
        print(name, shape, " ".join(f"{number:.7g}" for number in numbers))


def same(first, second):
    one, other = load(first), load(second)
    nothing = (0, 0, 0)
    differing = [name for name in sorted(one.keys() | other.keys())
                 if one.get(name, nothing)[::2] != other.get(name, nothing)[::2]]
    for name in differing:
        print(f"{name}: differs between {first} and {second}")
    if not one:
        print(f"{first}: holds no tensors")
    return 1 if differing or not one else 0


def largest(numbers):
    """The largest magnitude; infinite where one is not a number."""
    found = 0.0
    for number in numbers:
        if math.isnan(number):
            return math.inf
        found = max(found, abs(number))
    return found


def relative_error(one, other):
    """Of `other`, as a part of the largest of `one`: by name as load() gives them.

    Infinite where one is not a number, or the names or shapes differ."""
    worst = 0.0 if one and one.keys() == other.keys() else math.inf
    for name in one.keys() & other.keys():
        (shape, numbers, _), (other_shape, other_numbers, _) = one[name], other[name]
        error = largest(a - b for a, b in zip(numbers, other_numbers))
        most = largest(numbers)
        if shape != other_shape or not math.isfinite(error) or most == math.inf:
            return math.inf
        worst = max(worst, error / most if most else error)
    return worst


def bound_of(row):
    """The relative bound of a row of tolerances.json."""
    with open(TOLERANCES) as file:
        return {entry["name"]: entry["relative"]
                for entry in json.load(file)["tolerances"]}[row]


def close(first, second, row):
    bound = bound_of(row)
    one, other = load(first), load(second)
    failures = 0
    for name in sorted(one.keys() | other.keys()):
        if one.get(name, (0,))[0] != other.get(name, (1,))[0]:
            print(f"{name}: not in both, or of another shape")
            failures += 1
            continue
        pairs = zip(one[name][1], other[name][1])
        error, most = largest(a - b for a, b in pairs), largest(other[name][1])
        if not error <= bound * most or most == math.inf:
            print(f"{name}: error {error:.3g} of {most:.3g}")
            failures += 1
    if not one:
        print(f"{first}: holds no tensors")
    return 1 if failures or not one else 0


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "make":
        return make(arguments[1], arguments[2:])
    if len(arguments) >= 2 and arguments[0] == "print":
        return show(arguments[1], arguments[2:])
    if len(arguments) == 3 and arguments[0] == "same":
        return same(arguments[1], arguments[2])
    if len(arguments) == 4 and arguments[0] == "close":
        return close(*arguments[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
