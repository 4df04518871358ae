#!/usr/bin/env python3
"""A long sequence through the entry `next`: whole, and in other pieces, whose last run
is a few tokens behind more than one stretch of keys. Its output must have the same bits.

  cuts.py MILLE PACKAGE WORK TOKENS VOCABULARY THREADS
"""
import array
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))
sys.dont_write_bytecode = True
import tensors  # noqa: E402


def integers(shape, numbers):
    return "I32", shape, array.array("i", numbers).tobytes()


class Runs:
    def __init__(self, mille, package, work, tokens, vocabulary, threads):
        os.makedirs(work, exist_ok=True)
        self.mille, self.package, self.work = mille, package, work
        self.threads = threads
        draw = random.Random(5)
        self.ids = [draw.randrange(int(vocabulary)) for _ in range(int(tokens))]

    def path(self, name):
        return os.path.join(self.work, name)

    def run(self, pieces):
        """The bytes of the last piece's outputs."""
        past = 0
        for number, piece in enumerate(pieces):
            own = self.ids[past:past + piece]
            tensors.save(self.path("in"), {"input_ids": integers([1, piece], own),
                                           "past": integers([1], [past])})
            before = [f"--state-in={self.path(f'state{(number + 1) % 2}')}"]
            subprocess.run(
                [self.mille, "run", self.package, "--entry=next",
                 f"--context={len(self.ids)}", f"--threads={self.threads}",
                 "--inputs", self.path("in"), "--outputs", self.path("out"),
                 f"--state-out={self.path(f'state{number % 2}')}",
                 *(before if number else [])], check=True)
            past += piece
        with open(self.path("out"), "rb") as file:
            return file.read()


def main():
    runs = Runs(*sys.argv[1:])
    n = len(runs.ids)
    whole = runs.run([n])
    cuts = [[n - 1, 1], [n - 3, 1, 1, 1], [n // 2, n - n // 2 - 7, 7],
            [n - 40, 37, 3]]
    for pieces in cuts:
        if runs.run(pieces) != whole:
            sys.exit(f"{pieces}: other numbers than in one piece")
    print(f"{n} tokens: the same bits in one piece and in {len(cuts)} ways of pieces")


if __name__ == "__main__":
    main()
