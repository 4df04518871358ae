#!/usr/bin/env python3
"""Decoding by `mille generate` beside ik_llama.cpp: tokens a second of the prompt and
of the answer, each at several lengths of context, in interleaved rounds.

  decode.py FILE.gguf [--mille=PATH] [--dtypes=f32,bf16,int8,q8_0,q4_0]
            [--contexts=128,1024] [--tokens=64] [--threads=1] [--rounds=3] [--cache=int8]
            [--peer=PYTHON] [--work=FOLDER]

PYTHON has ik-llama-cpp-python and gguf; without it Mille is alone. A peer's type is the same
(`stored`: the file as it is) but int8, which it has not. Each process is pinned. A figure is the median of the
rounds; the memory's read bandwidth, by `mille devices --measure` on the same cores, is
measured in each round. Prints a table in Markdown.
"""
import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PEER = os.path.join(HERE, "peers", "ik_llama.py")
PEER_TYPES = ["f32", "bf16", "q8_0", "q4_0", "stored"]
STATS = re.compile(r"prompt \d+ tokens, ([\d.]+) a second; \d+ more, ([\d.]+)")


def run(command, threads):
    pinned = ["taskset", "-c", "1" if threads == 1 else "0-%d" % (threads - 1)]
    done = subprocess.run(pinned + command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: status %d\n%s" % (command[0], done.returncode,
                                        done.stderr[-2000:]))
    return done


class Bench:
    def __init__(self, options):
        self.options = options
        self.figures = {}  # (name, dtype, context) -> [(prompt, decode)]
        self.reads = []
        draw = random.Random(1)
        self.contexts = [int(word) for word in options.contexts.split(",")]
        self.ids = [draw.randrange(100, 30000) for _ in range(max(self.contexts))]
        os.makedirs(options.work, exist_ok=True)

    def package(self, dtype):
        cache = self.options.cache
        folder = os.path.join(self.options.work, dtype + cache)
        if not os.path.exists(folder):
            run([self.options.mille, "compile", self.options.file, "-o", folder,
                 "--entries=next", "--dtype=" + dtype, "--target=host",
                 *(["--cache=" + cache] if cache else [])], 1)
        return folder

    def keep(self, name, dtype, context, prompt, decode):
        self.figures.setdefault((name, dtype, context), []).append((prompt, decode))

    def ours(self, dtype):
        options = self.options
        for context in self.contexts:
            done = run([options.mille, "generate", self.package(dtype),
                        "--ids=" + ",".join(map(str, self.ids[:context])),
                        "--context=%d" % (context + options.tokens),
                        "--max-tokens=%d" % options.tokens, "--temperature=0",
                        "--threads=%d" % options.threads, "--stats", "--json"],
                       options.threads)
            found = STATS.search(done.stderr)
            if not found:
                sys.exit("no --stats in\n" + done.stderr)
            self.keep("mille", dtype, context, float(found[1]), float(found[2]))

    def theirs(self, dtype):
        options = self.options
        done = run([options.peer, PEER, options.file, dtype,
                    ",".join(map(str, self.ids)), str(options.threads),
                    str(options.tokens), options.contexts], options.threads)
        for line in done.stdout.splitlines():
            got = json.loads(line)
            self.keep("ik_llama.cpp", dtype, got["context"], got["prompt"],
                      got["decode"])

    def round(self):
        options = self.options
        probe = run([options.mille, "devices", "--measure", "--json",
                     "--threads=%d" % options.threads], options.threads)
        self.reads.append(json.loads(probe.stdout)["read_gb_per_s"])
        for dtype in options.dtypes.split(","):
            self.ours(dtype)
            if options.peer and dtype in PEER_TYPES:
                self.theirs(dtype)

    def table(self):
        print("Read %.1f to %.1f GB/s with %d thread%s.\n" % (
            min(self.reads), max(self.reads), self.options.threads,
            "s" if self.options.threads > 1 else ""))
        print("| | type | context | prompt, tokens/s | decode, tokens/s | "
              "over ik_llama.cpp |")
        print("|---|---|---|---|---|---|")
        for (name, dtype, context), got in self.figures.items():
            prompt, decode = (statistics.median(part) for part in zip(*got))
            peer = self.figures.get(("ik_llama.cpp", dtype, context))
            over = ""
            if peer and name == "mille":
                over = "%.2f" % statistics.median(
                    own[1] / other[1] for own, other in zip(got, peer))
            print("| %s | %s | %d | %.0f | %.1f | %s |" % (
                name, dtype, context, prompt, decode, over))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--mille", default="build/bin/mille")
    parser.add_argument("--dtypes", default="f32,bf16,int8,q8_0,q4_0")
    parser.add_argument("--contexts", default="128,1024")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", default="")
    parser.add_argument("--peer")
    parser.add_argument("--work", default="build/benchmarks/decode")
    bench = Bench(parser.parse_args())
    for _ in range(bench.options.rounds):
        bench.round()
    bench.table()


if __name__ == "__main__":
    main()
