#!/usr/bin/env python3
"""in-readme.py TEXT README: what a program printed stands in its README, but for
the last digits of numbers."""
import re
import sys

text, readme = [open(path).read() for path in sys.argv[1:]]


def parts(line):
    words = re.split(r"(-?\d+\.\d+)", line)
    return [word.strip() for word in words[::2]], [float(w) for w in words[1::2]]


lines = [parts(line) for line in readme.splitlines()]
for line in text.splitlines():
    words, numbers = parts(line)
    if not any(words == w and all(abs(a - b) < 5e-4 for a, b in zip(numbers, n))
               for w, n in lines):
        sys.exit("the README does not have the line '%s'" % line)
