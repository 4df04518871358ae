#!/usr/bin/env python3
"""The entry `extend` of a model, fed with a conformance case's tokens in one piece
and in pieces: the same bits of every token that the mask shows, and close to what
`forward` says in the reference.

  extend.py MILLE CASE WORK [--threads=N] [--dtype=NAME] [--reference]
                            [--target=NAME] [--expect-differs]
"""
import argparse
import array
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))
import tensors


def save(path, values):
    header, data = {}, b""
    for name, (kind, shape, block) in values.items():
        header[name] = {"dtype": kind, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(block)]}
        data += block
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def ints(rows):
    flat = [number for row in rows for number in row]
    return ("I32", [len(rows), len(rows[0])], array.array("i", flat).tobytes())


class Model:
    def __init__(self, arguments):
        self.mille, self.work = arguments.mille, arguments.work
        self.package = os.path.join(self.work, "package")
        self.options = [f"--threads={arguments.threads}"]
        subprocess.run([self.mille, "compile", arguments.case, "-o", self.package,
                        "--name=model", "--entries=extend",
                        f"--dtype={arguments.dtype}",
                        f"--target={arguments.target}"], check=True)

    def run(self, entry, inputs, options, state_in="", state_out=""):
        files = [os.path.join(self.work, name) for name in ("in", "out")]
        save(files[0], inputs)
        command = [self.mille, "run", self.package, "--inputs", files[0],
                   "--outputs", files[1], f"--entry={entry}", *options]
        command += [f"--state-in={state_in}"] if state_in else []
        command += [f"--state-out={state_out}"] if state_out else []
        subprocess.run(command, check=True)
        return {name: (shape, numbers)
                for name, (shape, numbers, _) in tensors.load(files[1]).items()}


def cuts(batch, tokens):
    """Of each way to cut: pieces, each the number of tokens of every sequence."""
    half = max(tokens // 2, 1)
    yield "1 + rest", [[1] * batch, [tokens - 1] * batch]
    yield "halves", [[half] * batch, [tokens - half] * batch]
    yield "token by token", [[1] * batch] * tokens
    ragged = [1 + (3 * b + 1) % (tokens - 1) for b in range(batch)]
    yield "ragged", [ragged, [tokens - own for own in ragged]]


class Case:
    def __init__(self, folder):
        given = tensors.load(os.path.join(folder, "inputs.safetensors"))
        self.batch, self.tokens = given["input_ids"][0]
        rows = lambda name: [list(given[name][1][b * self.tokens:][:self.tokens])
                             for b in range(self.batch)]
        self.ids = rows("input_ids")
        self.mask = rows("attention_mask") if "attention_mask" in given else \
            [[1] * self.tokens for _ in range(self.batch)]
        self.given = given

    def piece(self, past, own):
        """The inputs of a run that goes on from `past`."""
        most = max(own)
        cut = lambda rows, b: (rows[b][past[b]:past[b] + own[b]] +
                               [0] * (most - own[b]))
        return {
            "input_ids": ints([cut(self.ids, b) for b in range(self.batch)]),
            "attention_mask": ints([cut(self.mask, b) for b in range(self.batch)]),
            "past": ("I32", [self.batch], array.array("i", past).tobytes())}


def extend(model, case, pieces, options):
    """Rows of all outputs by (name, sequence, token)."""
    rows, past, state = {}, [0] * case.batch, ""
    for number, own in enumerate(pieces):
        after = os.path.join(model.work, f"state{number % 2}")
        outputs = model.run("extend", case.piece(past, own),
                            options + [f"--context={case.tokens}"], state, after)
        for name, (shape, numbers) in outputs.items():
            columns = shape[2]
            for b in range(case.batch):
                for t in range(own[b]):
                    if case.mask[b][past[b] + t]:
                        at = (b * shape[1] + t) * columns
                        rows[name, b, past[b] + t] = numbers[at:at + columns]
        past = [held + new for held, new in zip(past, own)]
        state = after
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mille")
    parser.add_argument("case")
    parser.add_argument("work")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--target", default="host")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--only-whole", action="store_true")
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    model, case = Model(arguments), Case(arguments.case)
    options = ["--target=reference"] if arguments.reference else model.options
    whole = extend(model, case, [[case.tokens] * case.batch], options)
    if not whole:
        sys.exit("no output has a row for each token")
    # The reference's forward, on the same ids and mask, with usual positions.
    given = case.piece([0] * case.batch, [case.tokens] * case.batch)
    del given["past"]
    forward = model.run("forward", given, ["--target=reference"])
    bound = {"f32": 1e-4, "bf16": 0.1, "int8": 0.5}[arguments.dtype]
    worst = 0.0
    for (name, b, t), row in whole.items():
        shape, numbers = forward[name]
        at = (b * shape[1] + t) * shape[2]
        expected = numbers[at:at + shape[2]]
        scale = max(1.0, max(abs(x) for x in expected))
        worst = max([worst] + [abs(x - y) / scale for x, y in zip(row, expected)])
    if not worst <= bound:
        sys.exit(f"in one piece {worst} from the reference's forward, of {bound}")
    if arguments.only_whole:
        print(f"{worst:.1e} from forward, in one piece")
        return
    for how, pieces in cuts(case.batch, case.tokens):
        got = extend(model, case, pieces, options)
        for key, row in whole.items():
            same = (row == got[key]) if not arguments.reference else all(
                abs(x - y) <= 1e-5 * (1 + abs(x)) for x, y in zip(row, got[key]))
            if not same:
                sys.exit(f"{how}: {key[0]} of token {key[2]} in sequence {key[1]} "
                         "has other numbers than in one piece")
    print(f"{len(whole)} rows, {worst:.1e} from forward: "
          "the same bits in one piece and in four ways of pieces")


main()
