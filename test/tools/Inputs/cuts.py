#!/usr/bin/env python3
"""A long sequence through the entry `next`: whole, and in other pieces, whose last run
is a few tokens behind more than one stretch of keys; beside a sequence of many more
tokens in that run. Its output must have the same bits on any number of threads.

  cuts.py MILLE PACKAGE WORK TOKENS VOCABULARY THREADS[,THREADS...]
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
        self.threads = threads.split(",")
        draw = random.Random(5)
        self.ids = [draw.randrange(int(vocabulary)) for _ in range(int(tokens))]

    def path(self, name):
        return os.path.join(self.work, name)

    def step(self, number, threads):
        before = [f"--state-in={self.path(f'state{(number + 1) % 2}')}"]
        subprocess.run(
            [self.mille, "run", self.package, "--entry=next",
             f"--context={len(self.ids)}", f"--threads={threads}",
             "--inputs", self.path("in"), "--outputs", self.path("out"),
             f"--state-out={self.path(f'state{number % 2}')}",
             *(before if number else [])], check=True)
        with open(self.path("out"), "rb") as file:
            return file.read()

    def run(self, pieces):
        """The bytes of the last piece's outputs, on each number of threads."""
        past = 0
        for number, piece in enumerate(pieces):
            own = self.ids[past:past + piece]
            tensors.save(self.path("in"), {"input_ids": integers([1, piece], own),
                                           "past": integers([1], [past])})
            past += piece
            last = past == len(self.ids)
            outputs = [self.step(number, threads)
                       for threads in (self.threads if last else "1")]
        return outputs

    def beside(self, rows, others):
        """The outputs of the last `rows` tokens, and of the last `others` of the same
        sequence, which run beside them, on each number of threads."""
        n, past = len(self.ids), [0, 0]
        for number, ends in enumerate([[n - rows, n - others], [n, n]]):
            counts = [end - first for first, end in zip(past, ends)]
            width, ids, mask = max(counts), [], []
            for first, count in zip(past, counts):
                ids += self.ids[first:first + count] + [0] * (width - count)
                mask += [1] * count + [0] * (width - count)
            tensors.save(self.path("in"), {"input_ids": integers([2, width], ids),
                                           "attention_mask": integers([2, width], mask),
                                           "past": integers([2], past)})
            past = ends
            for threads in self.threads if number else "1":
                self.step(number, threads)
                if number:
                    yield tensors.load(self.path("out"))


def main():
    runs = Runs(*sys.argv[1:])
    n = len(runs.ids)
    whole = runs.run([n])[0]
    cuts = [[n - 1, 1], [n - 3, 1, 1, 1], [n // 2, n - n // 2 - 7, 7],
            [n - 40, 37, 3]]
    for pieces in cuts:
        if any(got != whole for got in runs.run(pieces)):
            sys.exit(f"{pieces}: other numbers than in one piece")
    runs.run([n])
    alone = tensors.load(runs.path("out"))
    for both in runs.beside(3, 40):
        for name, (_, _, bits) in alone.items():
            if both[name][2] != 2 * bits:
                sys.exit(f"{name}: other numbers beside another sequence")
    print(f"{n} tokens: the same bits in one piece and in {len(cuts)} ways of pieces")


if __name__ == "__main__":
    main()
