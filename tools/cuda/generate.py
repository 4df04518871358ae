#!/usr/bin/env python3
"""Text generation on this machine's device: whether what a sequence gives depends on how
it was cut, and how long a step takes. Needs NumPy and the packages, no Mille.

  generate.py check PACKAGES [--device=cuda] [WORD...]
  generate.py speed PACKAGES [--device=cuda] [--profile=N] [WORD...]

PACKAGES holds libmille_loader.so and folders of packages with the entries forward, extend
and next (`tools/check-cuda.sh decoders DIR` makes them, `benchmarks/cuda.py prepare` those that
`speed` takes).

check: of random ids, extend in one piece is near forward of the same package (the largest
difference as a share of a row's largest number), and gives the same bits in two runs,
token by token, in pieces, ragged, and alone in place of in a batch; next gives the bits of
extend's last row; a state that was read and written back, and one that was copied, go on
with the same bits. Ends with "N passed, N failed".

speed: milliseconds of a step of one token, after a context, and what share of a copy's
bandwidth the weights' bytes over that time are.
"""
import argparse
import ctypes as c
import os
import sys
import time

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from package import Package, Refusal, Session  # noqa: E402

# Of rows that go through the same kernels cut otherwise, by type: rounding alone.
NEAR = {"f32": 1e-3, "f16": 0.05, "bf16": 0.35, "fp8": 0.7}


class Sequences:
    """A batch of sequences in a session, and the entry that continues them."""

    def __init__(self, package, batch, tokens, context, device):
        self.package = package
        most = {"batch": batch, "tokens": tokens, "context": context}
        self.session = Session(package, most, device)
        self.entries = {name: package.entry(name)
                        for name in ("forward", "extend", "next")}
        self.context = context

    def run(self, name, ids, past=None, lengths=None):
        """The outputs of a run of `ids`; lengths: of each row, the rest is padding."""
        entry = self.entries[name]
        batch, tokens = ids.shape
        values = {"input_ids": ids}
        if past is not None:
            values["past"] = numpy.asarray(past, "i4")
        if lengths is not None:
            values["attention_mask"] = (
                numpy.arange(tokens)[None] < numpy.asarray(lengths)[:, None]
            ).astype("i4")
        results = self.session.bind(values, {"batch": batch, "tokens": tokens},
                                    entry=entry)
        self.session.run()
        return results

    def logits(self, *arguments, **named):
        results = self.run(*arguments, **named)
        # Logits, or the last output that has a row for each token.
        return results.get("logits", list(results.values())[0]).copy()

    def call(self, function, *arguments):
        api = self.session.api
        if getattr(api, "mille_session_" + function)(self.session.handle, *arguments):
            raise Refusal(api.mille_session_message(self.session.handle).decode())

    def state_count(self):
        count = c.c_size_t()
        self.session.api.mille_package_state_count(self.package.handle,
                                                   c.byref(count))
        return count.value

    def save(self, sequence):
        """The bytes of a sequence's states."""
        saved = []
        for state in range(self.state_count()):
            size = c.c_size_t()
            self.call("state_bytes", c.c_size_t(state), c.byref(size))
            memory = numpy.zeros(size.value, "u1")
            self.call("read_state", c.c_size_t(state), c.c_int64(sequence),
                      c.c_void_p(memory.ctypes.data), size)
            saved.append(memory)
        return saved

    def load(self, sequence, saved):
        for state, memory in enumerate(saved):
            self.call("write_state", c.c_size_t(state), c.c_int64(sequence),
                      c.c_void_p(memory.ctypes.data), c.c_size_t(memory.size))

    def close(self):
        self.session.close()


def pieces(of, ids, cuts):
    """The rows of extend, in pieces of so many tokens each."""
    rows, past = [], 0
    for count in cuts:
        rows.append(of.logits("extend", ids[:, past:past + count],
                              [past] * len(ids)))
        past += count
    return numpy.concatenate(rows, 1)


def same(what, a, b):
    if not numpy.array_equal(a.view("u4"), b.view("u4")):
        different = (a.view("u4") != b.view("u4")).mean()
        raise Refusal(f"{what}: {different:.1%} of numbers have other bits, by up to "
                      f"{numpy.abs(a - b).max():.3g}")


def check_cuts(of, ids, whole):
    batch, tokens = ids.shape
    ragged = [1 + (7 * b + 3) % (tokens - 1) for b in range(batch)]
    for cuts in ([1, tokens - 1], [tokens // 2, tokens - tokens // 2], [1] * tokens,
                 [5, 1, 1, tokens - 7]):
        same(f"pieces of {cuts[0]}, {cuts[1]}, ...", pieces(of, ids, cuts), whole)
    # Sequences of different lengths, then the rest of each.
    most = max(ragged)
    first = of.logits("extend", ids[:, :most], [0] * batch, ragged)
    left = [tokens - count for count in ragged]
    rest = numpy.zeros((batch, max(left)), "i4")
    for b, count in enumerate(ragged):
        rest[b, :left[b]] = ids[b, count:]
    second = of.logits("extend", rest, ragged, left)
    for b, count in enumerate(ragged):
        same("ragged", numpy.concatenate([first[b, :count], second[b, :left[b]]]),
             whole[b])


def check_states(of, ids, whole):
    batch, tokens = ids.shape
    half = tokens // 2
    of.run("extend", ids[:, :half], [0] * batch)
    saved = of.save(0)
    if batch > 1:
        of.call("copy_states", c.c_int64(0), c.c_int64(1))
        twice = numpy.repeat(ids[:1, half:], batch, 0)
        rows = of.logits("extend", twice, [half] * batch)
        same("a copy", rows[1], whole[0, half:])
    of.call("reset_states")
    of.load(0, saved)
    rows = of.logits("extend", ids[:1, half:], [half])
    same("saved and read", rows[0], whole[0, half:])
    last = of.logits("next", ids, [0] * batch)
    same("next", last.reshape(batch, -1), whole[:, -1])
    alone = of.logits("extend", ids[:1], [0])
    same("alone", alone[0], whole[0])


def below_of(entry):
    """The number of ids; 0: an encoder-decoder, which has ids of two kinds."""
    return next((t.below for t in entry.inputs if t.name == b"input_ids"), 0)


def check_package(package, device, dtype, batch, tokens):
    # The states have room for the tokens twice.
    for name, share in ("tokens", 1), ("context", 2):
        most = package.most_of(name)
        tokens = min(tokens, most // share if most else tokens)
    below = below_of(package.entry("extend"))
    random = numpy.random.default_rng(1)
    ids = random.integers(3, max(4, below), (batch, tokens), "i4")
    of = Sequences(package, batch, tokens, 2 * tokens, device)
    whole = of.logits("extend", ids, [0] * batch)
    for _ in range(2):  # the second of them as a graph
        same("again", of.logits("extend", ids, [0] * batch), whole)
    forward = of.logits("forward", ids)
    scale = numpy.abs(forward).max(-1, keepdims=True)
    far = (numpy.abs(whole - forward) / scale).max()
    if not far <= NEAR[dtype]:
        raise Refusal(f"extend is {far:.3g} from forward, more than {NEAR[dtype]}")
    check_cuts(of, ids, whole)
    check_states(of, ids, whole)
    of.close()
    return far


def check(arguments, folders):
    passed = failed = 0
    for name in folders:
        dtype = name.rsplit(".", 1)[-1]
        try:
            package = Package(loader(arguments), os.path.join(arguments.folder, name))
            if not below_of(package.entry("extend")):
                print(f"{name}: left out, as its decoder reads an encoder", flush=True)
                continue
            # What is called long has room for several stretches of keys.
            size = (2, 600) if name.startswith("long") else (3, 37)
            far = check_package(package, arguments.device, dtype, *size)
            passed += 1
            print(f"{name}: {far:.1e} from forward", flush=True)
            package.close()
        except (Refusal, ValueError) as refusal:
            failed += 1
            print(f"FAILED {name}: {refusal}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed == 0 and passed > 0


def loader(arguments):
    return os.path.join(arguments.folder, "libmille_loader.so")


#===-- Speed -------------------------------------------------------------------===#

def median(times):
    return sorted(times)[len(times) // 2]


def step_time(of, batch, context, least=0.3, place=None):
    """Milliseconds of a step behind `context` tokens, its logits on the host, or where
    `place` puts them (Session.bind)."""
    ids = numpy.full((batch, 1), 7, "i4")
    past = numpy.full(batch, context, "i4")
    of.session.bind({"input_ids": ids, "past": past}, {"batch": batch, "tokens": 1},
                    place, entry=of.entries["next"])
    for _ in range(4):
        of.session.run()
    times, start = [], time.time()
    while time.time() - start < least or len(times) < 5:
        begin = time.perf_counter()
        of.session.run()
        times.append(1e3 * (time.perf_counter() - begin))
    return median(times)


def weight_bytes(folder, name):
    """What a step reads: all weights but the table of embeddings, of which it reads a
    row."""
    import json
    with open(os.path.join(folder, name, "speed.json")) as file:
        return json.load(file)["step_bytes"]


def speed(arguments, folders, copy=None):
    """copy: bytes a millisecond of a copy, read and written."""
    for name in folders:
        package = Package(loader(arguments), os.path.join(arguments.folder, name))
        read = weight_bytes(arguments.folder, name)
        for batch in 1, 16:
            of = Sequences(package, batch, 64, 2048, arguments.device)
            for context in 128, 1024:
                took = step_time(of, batch, context)
                share = f", {read / took / copy:.1%} of a copy" if copy else ""
                print(f"{name} step of {batch} behind {context}: {took:.3f} ms, "
                      f"{batch * 1e3 / took:.0f} tokens a second, "
                      f"{read / took / 1e9:.2f} TB/s of weights{share}", flush=True)
            for line in (of.session.profile(3)[:arguments.profile]
                         if arguments.profile else []):
                print("    %8.4f ms %5.0f calls %s" % line, flush=True)
            of.close()
        package.close()
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["check", "speed"])
    parser.add_argument("folder")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--profile", type=int, default=0, help="kernels to list")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_intermixed_args()
    wanted = [name for name in sorted(os.listdir(arguments.folder))
              if os.path.isdir(os.path.join(arguments.folder, name))
              and os.path.exists(os.path.join(arguments.folder, name, "model.so"))
              and (not arguments.words
                   or any(word in name for word in arguments.words))]
    act = check if arguments.what == "check" else speed
    sys.exit(not act(arguments, wanted))


if __name__ == "__main__":
    main()
