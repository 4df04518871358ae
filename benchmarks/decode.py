#!/usr/bin/env python3
"""Text generation by Mille beside its peers, of one model in several types, in turns.

  decode.py FILE.gguf [--mille=PATH] [--dtypes=f32,bf16,int8,q8_0,q4_0,q4_k]
            [--contexts=128,512,1024] [--tokens=64] [--threads=1] [--rounds=3]
            [--cache=int8] [--peers=llama_cpp,...] [--pythons=PYTHON,...]
            [--vocabulary=30000] [--work=FOLDER] [--first]

Each peer (peers/generate) is a process of the first of the PYTHONs that has it; it stays
alive, pinned to the same cores, and stands still while another has its turn. In each
round each has a prompt of as many tokens as each context, then so many further tokens
behind it; Mille's prompts are runs of `mille bench`, its tokens `mille generate`, with
sampling and text. The memory's read bandwidth, by `mille devices --measure` on the same
cores, is measured in each round: Mille's share of it is of the file's tensors and the
cache. llama.cpp makes the files of one type; Mille reads them as they are, as peers do,
and without llama.cpp quantises FILE itself.

--first times new processes instead, from their start to the first token behind a prompt
of 16, their files in the page cache. Prints Markdown; a figure is the median of the
rounds, a ratio that of the rounds' ratios. What a peer cannot do is told with its reason.
"""
import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = ["llama_cpp", "ik_llama_cpp", "openvino_genai", "onnxruntime_genai",
         "ctranslate2", "mistralrs"]
STATS = re.compile(r"; \d+ more, ([\d.]+) a second")
CACHE_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "int8": 1}


def pinned(command, threads):
    return ["taskset", "-c", "1" if threads == 1 else "0-%d" % (threads - 1)] + command


def environment(threads):
    return {**os.environ, "OMP_NUM_THREADS": str(threads),
            "RAYON_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"}


def run(command, threads):
    done = subprocess.run(pinned(command, threads), capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: status %d\n%s" % (command[0], done.returncode,
                                        done.stderr[-2000:]))
    return done


def first_line(command, threads, log):
    """The first line that a new process prints, and the seconds until then."""
    began = time.perf_counter()
    with open(log, "a") as errors, subprocess.Popen(
            pinned(command, threads), stdout=subprocess.PIPE, stderr=errors,
            env=environment(threads), text=True) as process:
        line = process.stdout.readline()
        seconds = time.perf_counter() - began
        process.stdout.read()
    return line, seconds


class Worker:
    """A peer's process, of one type; `refused` says why there is none."""

    def __init__(self, bench, name, dtype):
        self.bench, self.name, self.refused = bench, name, "no Python is given"
        self.case = json.dumps(bench.case(dtype))
        for python in bench.pythons:
            self.command = [python, os.path.join(HERE, "decode_worker.py"), name,
                            self.case]
            self.log = open(os.path.join(bench.options.work, name + ".log"), "a")
            self.process = subprocess.Popen(
                pinned(self.command, bench.options.threads), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=self.log, text=True,
                env=environment(bench.options.threads))
            said = self._read()
            self.refused = said.get("refused")
            if not said.get("absent"):
                bench.versions[name] = said.get("version")
                break

    def _read(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {
            "refused": "its process has ended: see %s" % self.log.name}

    def ask(self, ids, tokens):
        print(json.dumps({"ids": ids, "tokens": tokens}), file=self.process.stdin,
              flush=True)
        said = self._read()
        self.refused = said.get("refused")
        return None if self.refused else (said["prompt"], said["token"])

    def first(self, ids):
        line, seconds = first_line(self.command + [json.dumps(ids)],
                                   self.bench.options.threads, self.log.name)
        return seconds, json.loads(line)["loaded"]

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


class Bench:
    def __init__(self, options):
        self.options = options
        self.figures = {}  # (name, dtype, context) -> {round: (prompt, token)}
        self.left_out = {}  # (name, dtype) -> why
        self.versions, self.reads = {}, []
        self.made = {}  # dtype -> what decode_worker.py make says
        self.contexts = [int(word) for word in options.contexts.split(",")]
        self.pythons = [word for word in options.pythons.split(",")
                        if os.path.exists(word)]
        self.peers = [word for word in options.peers.split(",") if word]
        os.makedirs(options.work, exist_ok=True)

    def ids(self, turn, count):
        """Others in each round and of each count: some peers know a beginning again."""
        draw = random.Random(1000003 * turn + count)
        most = self.options.vocabulary
        return [draw.randrange(most // 300, most) for _ in range(count)]

    def file(self, dtype):
        """The file of this type, and its sizes; FILE where there is no llama.cpp."""
        if dtype not in self.made:
            self.made[dtype] = {"file": self.options.file}
            for python in self.pythons:
                done = subprocess.run(
                    [python, os.path.join(HERE, "decode_worker.py"), "make",
                     self.options.file, dtype, self.options.work],
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                said = json.loads(done.stdout or "{}")
                if "file" in said:
                    self.made[dtype] = said
                    break
        return self.made[dtype]

    def case(self, dtype):
        options = self.options
        return {"model": options.file, "file": self.file(dtype)["file"],
                "dtype": dtype, "threads": options.threads, "work": options.work,
                "room": max(self.contexts) + options.tokens}

    def package(self, dtype):
        cache, made = self.options.cache, self.file(dtype)
        folder = os.path.join(self.options.work, "mille-" + dtype + cache)
        own = dtype in ("f32", "bf16", "int8") or "weights" not in made
        if not os.path.exists(folder):
            run([self.options.mille, "compile",
                 self.options.file if own else made["file"], "-o", folder,
                 "--entries=next", "--dtype=" + (dtype if own else "stored"),
                 "--target=host", *(["--cache=" + cache] if cache else [])], 1)
        return folder

    def generate(self, dtype, ids, tokens):
        return [self.options.mille, "generate", self.package(dtype),
                "--ids=" + ",".join(map(str, ids)), "--max-tokens=%d" % tokens,
                "--context=%d" % (len(ids) + tokens), "--temperature=0",
                "--threads=%d" % self.options.threads, "--stats", "--json"]

    def ours(self, dtype, ids):
        options = self.options
        done = run([options.mille, "bench", self.package(dtype), "--entry=next",
                    "--tokens=%d" % len(ids), "--threads=%d" % options.threads,
                    "--repeats=%d" % max(2, 512 // len(ids)), "--json"],
                   options.threads)
        prompt = json.loads(done.stdout)["median_ms"] / 1e3
        if not options.tokens:
            return prompt, 0
        done = run(self.generate(dtype, ids, options.tokens + 1), options.threads)
        found = STATS.search(done.stderr)
        if not found:
            sys.exit("no --stats in\n" + done.stderr)
        return prompt, 1 / float(found[1])

    def keep(self, name, dtype, context, turn, figures):
        self.figures.setdefault((name, dtype, context), {})[turn] = figures
        print(name, dtype, context, *("%.2f" % (1e3 * one) for one in figures if one),
              file=sys.stderr)

    def workers(self, dtype):
        """The peers that have this type, each a process of its own."""
        found = [Worker(self, name, dtype) for name in self.peers]
        return [worker for worker in found if not self.refuses(worker, dtype)]

    def measure(self, dtype):
        """All rounds of one type."""
        workers = self.workers(dtype)
        for turn in range(self.options.rounds):
            self.probe()
            for context in self.contexts:
                ids = self.ids(turn, context)
                self.keep("mille", dtype, context, turn, self.ours(dtype, ids))
                for worker in [one for one in workers if not one.refused]:
                    got = worker.ask(ids, self.options.tokens)
                    if not self.refuses(worker, dtype):
                        self.keep(worker.name, dtype, context, turn, got)
        for worker in workers:
            worker.end()

    def refuses(self, worker, dtype):
        if worker.refused:
            self.left_out[worker.name, dtype] = worker.refused
        return worker.refused

    def measure_first(self, dtype):
        """New processes, each once more than the rounds: the first fills caches."""
        log = os.path.join(self.options.work, "mille.log")
        workers = self.workers(dtype)
        for worker in workers:
            worker.end()
        for turn in range(-1, self.options.rounds):
            ids = self.ids(turn, 16)
            got = {"mille": (first_line(self.generate(dtype, ids, 1),
                                        self.options.threads, log)[1], None)}
            got.update((worker.name, worker.first(ids)) for worker in workers)
            for name, figures in got.items() if turn >= 0 else ():
                self.keep(name, dtype, 16, turn, figures)

    def probe(self):
        found = run([self.options.mille, "devices", "--measure", "--json",
                     "--threads=%d" % self.options.threads], self.options.threads)
        self.reads.append(json.loads(found.stdout)["read_gb_per_s"])
        print("read %.1f GB/s" % self.reads[-1], file=sys.stderr)


def median(figures, at):
    return statistics.median(one[at] for one in figures.values())


def over(bench, key, at):
    """How many times Mille's time a peer takes."""
    ours, theirs = bench.figures["mille", *key[1:]], bench.figures[key]
    ratios = [theirs[turn][at] / ours[turn][at] for turn in theirs if ours[turn][at]]
    return "%.2f" % statistics.median(ratios) if ratios else ""


def share(bench, dtype, context, seconds):
    """Of the read bandwidth: the file's tensors and the cache in the time of a token."""
    made, kind = bench.file(dtype), bench.options.cache
    if "weights" not in made or dtype == "int8" or not seconds:
        return ""
    each = CACHE_BYTES[kind or ("f32" if dtype == "f32" else "bf16")]
    count = made["weights"] + made["numbers"] * each * (
        context + bench.options.tokens / 2)
    return "%.0f %%" % (count / seconds / 1e7 / statistics.median(bench.reads))


def line(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")


def table(bench):
    print("Read %.1f to %.1f GB/s by %d thread%s.\n" % (
        min(bench.reads), max(bench.reads), bench.options.threads,
        "s" if bench.options.threads > 1 else ""))
    print("".join("* %s %s\n" % pair for pair in bench.versions.items() if pair[1]))
    line("", "type", "behind", "prompt, ms", "over Mille", "a token, ms", "over Mille",
         "of the read")
    print("|---" * 8 + "|")
    for key, figures in bench.figures.items():
        name, dtype, context = key
        token = median(figures, 1)
        mine = name == "mille"
        line(name, dtype, context, "%.1f" % (1e3 * median(figures, 0)),
             "" if mine else over(bench, key, 0), "%.2f" % (1e3 * token),
             "" if mine else over(bench, key, 1),
             share(bench, dtype, context, token) if mine else "")
    print()
    least, most = min(bench.contexts), max(bench.contexts)
    for name, dtype, context in list(bench.figures):
        if context == most != least and bench.options.tokens:
            print("* %s, %s: a token grows by %.2f ms from %d to %d tokens" % (
                name, dtype, 1e3 * statistics.median(
                    figures[1] - bench.figures[name, dtype, least][turn][1]
                    for turn, figures in bench.figures[name, dtype, most].items()),
                least, most))


def first_table(bench):
    line("", "type", "process, ms", "over Mille", "without imports, ms", "over Mille")
    print("|---" * 6 + "|")
    for key, figures in bench.figures.items():
        if key[0] == "mille":
            line("mille", key[1], "%.0f" % (1e3 * median(figures, 0)), "", "", "")
            continue
        loaded = median(figures, 1)
        line(key[0], key[1], "%.0f" % (1e3 * median(figures, 0)), over(bench, key, 0),
             "%.0f" % (1e3 * loaded), "%.1f" % (
                 loaded / median(bench.figures["mille", *key[1:]], 0)))
    print()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--mille", default="build/bin/mille")
    parser.add_argument("--dtypes", default="f32,bf16,int8,q8_0,q4_0,q4_k")
    parser.add_argument("--contexts", default="128,512,1024")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", default="", choices=["", *CACHE_BYTES])
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--pythons", default="build/benchmarks/venv/bin/python")
    parser.add_argument("--vocabulary", type=int, default=30000)
    parser.add_argument("--work", default="build/benchmarks/decode")
    parser.add_argument("--first", action="store_true")
    bench = Bench(parser.parse_args())
    strange = set(bench.peers) - set(PEERS)
    if strange:
        parser.error("%s is none of %s" % (min(strange), ", ".join(PEERS)))
    for dtype in bench.options.dtypes.split(","):
        (bench.measure_first if bench.options.first else bench.measure)(dtype)
    (first_table if bench.options.first else table)(bench)
    for (name, dtype), why in bench.left_out.items():
        print("* %s, %s: left out: %s" % (name, dtype, why))


if __name__ == "__main__":
    main()
