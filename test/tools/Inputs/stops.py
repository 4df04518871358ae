#!/usr/bin/env python3
"""stops.py MILLE PACKAGE PROMPT: the answer with --stop is the answer up to that text,
for texts that tokens divide and for one that does not come."""
import subprocess
import sys

mille, package, prompt = sys.argv[1:]


def answer(*options):
    command = [mille, "generate", package, "--prompt=" + prompt, "--temperature=0",
               "--max-tokens=24", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


whole = answer().removesuffix("\n")
assert len(whole) > 8, whole
stops = [whole[i:i + size] for i in (0, 3, 5) for size in (1, 2, 4)]
for stop in stops:
    expected = whole[:whole.index(stop)]
    assert answer("--stop=" + stop) == expected + "\n", (stop, expected)
    assert answer("--stop=" + stop + "\x01", "--stop=" + stop) == expected + "\n", stop
assert answer("--stop=" + whole[-1] + "\x01") == whole + "\n"
print(f"stopped before each of {len(stops)} texts")
