#!/usr/bin/env python3
"""The entry `extend` of a model, fed with a conformance case's tokens in one piece
and in pieces: the same bits of every token that the mask shows, and close to what
`forward` says in the reference.

  extend.py MILLE CASE WORK [--threads=N,...] [--dtype=NAME] [--target=NAME]
                            [--cache=int8|f16] [--only-whole]

Of --target=reference pieces agree to the rounding of sums in double; --target=fused is
the same of the program after fusing. --only-whole:
no pieces, for models whose rotations change with the length of a run.
"""
import argparse
import array
import copy
import glob
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))
import tensors


def ints(rows):
    flat = [number for row in rows for number in row]
    return ("I32", [len(rows), len(rows[0])], array.array("i", flat).tobytes())


IN_DOUBLE = ("reference", "fused")


class Failed(Exception):
    pass


def call(*command):
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        raise Failed(ran.stderr.strip().split("\n")[0])


class Model:
    """A conformance case's model; `mille run` takes it as it is in the reference and
    compiled otherwise."""

    def __init__(self, mille, case, work, dtype, target, cache):
        self.mille, self.work, self.target = mille, work, target
        spec = os.path.join(case, "spec.json")
        self.source = self.program = spec if os.path.exists(spec) else case
        if target == "fused":
            self.program = os.path.join(work, "fused.mlir")
            with open(self.program, "w") as file:
                subprocess.run([mille, "compile", self.source, "--entries=extend",
                                "--stop-after=fuse"], stdout=file, check=True)
            for weights in glob.glob(os.path.join(case, "*.safetensors")):
                shutil.copy(weights, work)
        elif target != "reference":
            self.package = os.path.join(work, "package")
            call(mille, "compile", self.source, "-o", self.package, "--name=model",
                 "--entries=extend,next", f"--dtype={dtype}", f"--target={target}",
                 *([f"--cache={cache}"] if cache else []))

    def context(self, tokens):
        """Tokens of the states: room for padding too, where the model counts it."""
        if self.target in IN_DOUBLE:
            return tokens
        with open(os.path.join(self.package, "model.json")) as file:
            sizes = json.load(file)["mille_package"]["sizes"]
        most = next(size.get("most", 0) for size in sizes if size["name"] == "context")
        return min(2 * tokens, most) if most else 2 * tokens

    def run(self, entry, inputs, options, state_in="", state_out=""):
        files = [os.path.join(self.work, name) for name in ("in", "out")]
        tensors.save(files[0], inputs)
        program = (self.package if "--target=reference" not in options else
                   self.source if entry == "forward" else self.program)
        call(self.mille, "run", program,
             "--inputs", files[0], "--outputs", files[1], f"--entry={entry}", *options,
             *([f"--state-in={state_in}"] if state_in else []),
             *([f"--state-out={state_out}"] if state_out else []))
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
        self.own = "decoder_" if "decoder_input_ids" in given else ""
        ids, mask = self.own + "input_ids", self.own + "attention_mask"
        self.batch, self.tokens = given[ids][0]
        rows = lambda name, count: [list(given[name][1][b * count:][:count])
                                    for b in range(self.batch)]
        self.ids = rows(ids, self.tokens)
        self.mask = rows(mask, self.tokens) if mask in given else \
            [[1] * self.tokens for _ in range(self.batch)]
        # What forward needs besides: the images of two towers, or a source.
        self.others = {name: ("F32", shape, block)
                       for name, (shape, _, block) in given.items()
                       if name in ("pixel_values", "input_features")}
        self.source = {}
        if self.own:
            self.read_source(given, rows, folder)

    def read_source(self, given, rows, folder):
        """The inputs of the entry `source`, and how many tokens it remembers."""
        for name in ("input_ids", "attention_mask"):
            if name in given:
                self.others[name] = ints(rows(name, given[name][0][1]))
        self.source = dict(self.others)
        if "attention_mask" in given:
            masks = rows("attention_mask", given["attention_mask"][0][1])
            self.held = [max(t + 1 for t, shown in enumerate(mask) if shown)
                         for mask in masks]
        elif "input_ids" in given:
            self.held = [given["input_ids"][0][1]] * self.batch
        else:
            with open(os.path.join(folder, "config.json")) as file:
                self.held = [json.load(file)["max_source_positions"]] * self.batch

    def until(self, tokens):
        """The same case with this many tokens."""
        part = copy.copy(self)
        part.tokens = tokens
        return part

    def piece(self, past, own):
        """The inputs of a run that goes on from `past`."""
        most = max(own)
        cut = lambda rows, b: (rows[b][past[b]:past[b] + own[b]] +
                               [0] * (most - own[b]))
        inputs = {
            "input_ids": ints([cut(self.ids, b) for b in range(self.batch)]),
            "attention_mask": ints([cut(self.mask, b) for b in range(self.batch)])}
        inputs = {self.own + name: value for name, value in inputs.items()}
        counts = lambda held: ("I32", [self.batch], array.array("i", held).tobytes())
        inputs["past"] = counts(past)
        if self.source:
            inputs["source_tokens"] = counts(self.held)
        return inputs


def remembered(model, case, options):
    """The state after the entry `source`, of a decoder beside an encoder."""
    if not case.source:
        return ""
    state = os.path.join(model.work, "source")
    model.run("source", case.source, options, state_out=state)
    return state


def extend(model, case, pieces, options):
    """Rows of all outputs by (name, sequence, token)."""
    rows, past = {}, [0] * case.batch
    state = remembered(model, case, options)
    for number, own in enumerate(pieces):
        after = os.path.join(model.work, f"state{number % 2}")
        outputs = model.run("extend", case.piece(past, own),
                            options + [f"--context={model.context(case.tokens)}"],
                            state, after)
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


def lastRows(model, case, pieces, options):
    """What the entry next says after these pieces, by (name, sequence)."""
    past, state = [0] * case.batch, remembered(model, case, options)
    for number, own in enumerate(pieces):
        after = os.path.join(model.work, f"next{number % 2}")
        outputs = model.run("next", case.piece(past, own),
                            options + [f"--context={model.context(case.tokens)}"],
                            state, after)
        past, state = [held + new for held, new in zip(past, own)], after
    return {(name, b): numbers[b * shape[1]:(b + 1) * shape[1]]
            for name, (shape, numbers) in outputs.items() for b in range(case.batch)}


def checkNext(model, case, whole, options, bound):
    """The entry next: the same bits in pieces; near extend's row of the last token.
    Its bits may be others where the rewrites of the last norm are."""
    shown = [max(t for t in range(case.tokens) if case.mask[b][t])
             for b in range(case.batch)]
    if min(shown) < case.tokens - 1:  # a piece without a token has no last one
        case = case.until(min(shown) + 1)
        shown = [min(shown)] * case.batch
    rows = lastRows(model, case, [[case.tokens] * case.batch], options)
    pieces = [[case.tokens - 1] * case.batch, [1] * case.batch]
    if rows != lastRows(model, case, pieces, options):
        raise Failed("next: other numbers in pieces than in one")
    for (name, b), row in rows.items():
        if not case.mask[b][shown[b]]:
            continue
        expected = whole[name, b, shown[b]]
        scale = max(1.0, max(abs(x) for x in expected))
        if not all(abs(x - y) <= bound * scale for x, y in zip(row, expected)):
            raise Failed(f"next: {name} of sequence {b} is not extend's")


def distance(model, case, whole):
    """The largest difference from the reference's forward on the same ids and mask,
    with usual positions, beside the largest number of its row."""
    given = {**case.others, **case.piece([0] * case.batch, [case.tokens] * case.batch)}
    for counts in ("past", "source_tokens"):
        given.pop(counts, None)
    forward = model.run("forward", given, ["--target=reference"])
    worst = 0.0
    for (name, b, t), row in whole.items():
        shape, numbers = forward[name]
        at = (b * shape[1] + t) * shape[2]
        expected = numbers[at:at + shape[2]]
        scale = max(1.0, max(abs(x) for x in expected))
        for x, y in zip(row, expected):
            difference = abs(x - y) / scale
            worst = difference if not difference <= worst else worst  # NaN too
    return worst


# How far rows may be from forward's in the reference. BitNet rounds rows to bytes:
# where one flips, its row moves by so much.
BOUNDS = {"f32": 1e-4, "f16": 0.025, "bf16": 0.2, "int8": 0.5}


def check(mille, folder, work, dtype="f32", target="x86-64-v3", threads=(1,),
          only_whole=False, cache=""):
    """The number of rows and their distance from forward; raises Failed."""
    os.makedirs(work, exist_ok=True)
    model, case = Model(mille, folder, work, dtype, target, cache), Case(folder)
    reference = target in IN_DOUBLE
    options = [["--target=reference"]] if reference else \
        [[f"--threads={count}"] for count in threads]
    whole = extend(model, case, [[case.tokens] * case.batch], options[0])
    if not whole:
        raise Failed("no output has a row for each token")
    worst = distance(model, case, whole)
    bound = max(BOUNDS[dtype], tensors.bound_of(f"cache_{cache}") if cache else 0)
    if not worst <= bound:
        raise Failed(f"in one piece {worst} from the reference's forward, of {bound}")
    if not reference and not only_whole:
        checkNext(model, case, whole, options[0], bound)
    for how, pieces in () if only_whole else cuts(case.batch, case.tokens):
        for each in options:
            got = extend(model, case, pieces, each)
            for key, row in whole.items():
                same = (row == got[key]) if not reference else all(
                    abs(x - y) <= 1e-6 * (1 + abs(x)) for x, y in zip(row, got[key]))
                if not same:
                    raise Failed(f"{how} {' '.join(each)}: {key[0]} of token {key[2]} "
                                 f"in sequence {key[1]} has other numbers than in one "
                                 "piece")
    return len(whole), worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mille")
    parser.add_argument("case")
    parser.add_argument("work")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--target", default="x86-64-v3")
    parser.add_argument("--cache", default="")
    parser.add_argument("--only-whole", action="store_true")
    given = parser.parse_args()
    threads = [int(count) for count in given.threads.split(",")]
    try:
        rows, worst = check(given.mille, given.case, given.work, given.dtype,
                            given.target, threads, given.only_whole, given.cache)
    except Failed as failure:
        sys.exit(str(failure))
    print(f"{rows} rows, {worst:.1e} from forward" +
          ("" if given.only_whole else ": the same bits in one piece and in four ways "
           "of pieces" if given.target not in IN_DOUBLE else ": the same in pieces"))


if __name__ == "__main__":
    main()
