#!/usr/bin/env python3
"""scale.py FILE.weights: doubles the floats of the second half, in place."""
import array
import sys

with open(sys.argv[1], "r+b") as file:
    data = file.read()
    start = len(data) // 2 // 64 * 64
    numbers = array.array("f", data[start:len(data) // 4 * 4])
    for i, number in enumerate(numbers):
        numbers[i] = 2 * number
    file.seek(start)
    file.write(numbers.tobytes())
