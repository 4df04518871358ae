"""What `mille train --memory` chooses: memory.py MILLE SPEC DATA.

Goes down from what everything needs to one byte below what the last choice took, until
nothing fits: a word may come once, each takes no more than it was given, and the bytes
told with the refusal are enough.
"""
import re
import subprocess
import sys

mille, spec, data = sys.argv[1:4]


def train(memory):
    return subprocess.run([mille, "train", spec, "--data", data, "--batch=16", "--steps=0",
                           "--threads=1", "--memory=%d" % memory], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


memory, words = 1 << 33, []
while True:
    ran = train(memory)
    if ran.returncode == 2:
        break
    word, taken = re.match(r"--recompute=(\S+): (\d+) bytes", ran.stdout).groups()
    assert int(taken) <= memory and word not in words, (word, taken, memory, words)
    words.append(word)
    memory = int(taken) - 1
least, given = re.search(r"takes (\d+) bytes at least.* is (\d+)", ran.stderr).groups()
assert int(given) == memory < int(least)
assert train(int(least)).returncode == 0, least
print(", ".join(words) + ": each in its bytes, the least refused one byte below")
