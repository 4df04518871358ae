"""Compares two results, within the accuracy of their type."""
import array
import math

# The bounds for the last hidden state of an encoder. f32 only rounds: its bound is
# on the largest difference over the largest value. Other types have a bound on the
# angle.
LARGEST_DIFFERENCE = {"f32": 1e-4}
LEAST_COSINE = {"f32": 0.999999, "bf16": 0.999, "int8": 0.99}


def read(path, rows=None):
    """The numbers of a file of f32. rows: flags; only rows with a true one."""
    numbers = array.array("f")
    with open(path, "rb") as file:
        numbers.frombytes(file.read())
    if rows is None:
        return numbers
    width = len(numbers) // len(rows)
    kept = array.array("f")
    for index, keep in enumerate(rows):
        if keep:
            kept.extend(numbers[index * width:(index + 1) * width])
    return kept


def compare(mine, theirs):
    """(largest difference over theirs' largest value, 1 - cosine)"""
    if len(mine) != len(theirs):
        return float("inf"), float("inf")
    try:
        import numpy as np
        a, b = (np.frombuffer(one, np.float32).astype(np.float64)
                for one in (mine, theirs))
        difference = np.abs(a - b).max() / np.abs(b).max()
        cosine = (a @ b) / math.sqrt((a @ a) * (b @ b))
    except ImportError:
        difference = (max(abs(x - y) for x, y in zip(mine, theirs))
                      / max(abs(y) for y in theirs))
        cosine = sum(x * y for x, y in zip(mine, theirs)) / math.sqrt(
            sum(x * x for x in mine) * sum(y * y for y in theirs))
    if math.isnan(difference) or math.isnan(cosine):
        return float("inf"), float("inf")
    return float(difference), max(0.0, 1 - float(cosine))


def agrees(dtype, difference, away):
    return (difference <= LARGEST_DIFFERENCE.get(dtype, float("inf"))
            and 1 - away >= LEAST_COSINE[dtype])
