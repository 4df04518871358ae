"""Vectors of texts: mille.Encoder beside its peers in Python, in turns.

  python benchmarks/encode.py FOLDER --texts=1000 --threads=1 --rounds=3

FOLDER is all-MiniLM-L6-v2, or another BERT of sentence-transformers with mean
pooling. Every peer is a process that stays alive; in each round each encodes all
texts once, and the others stand still. `--first` times new processes that make one
vector: from before their first import to the vector, and from their start to their
end."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import text_peers


def texts_of(count):
    import serve
    return serve.texts_of(count)


def work_as(options):
    """The other end of Worker."""
    encode = text_peers.PEERS[options.worker](options.folder, options.threads,
                                              options.work)
    texts = texts_of(options.texts)
    encode(sorted(texts, key=len)[-text_peers.BATCH:])
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        vectors = encode(texts)
        seconds = time.perf_counter() - begin
        np.save(os.path.join(options.work, options.worker + ".npy"), vectors)
        print(seconds, flush=True)


def environment(threads):
    # As users have it: what is imported is compiled already.
    own = {key: value for key, value in os.environ.items()
           if key != "PYTHONDONTWRITEBYTECODE"}
    return {**own, "RAYON_NUM_THREADS": str(threads),
            "OMP_NUM_THREADS": str(threads),
            "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"}


class Worker:
    def __init__(self, options, name):
        self.process = subprocess.Popen(
            [sys.executable, __file__, options.folder, f"--worker={name}",
             f"--work={options.work}", f"--threads={options.threads}",
             f"--texts={options.texts}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(options.threads))
        while (line := self.process.stdout.readline()) != "ready\n":
            if not line:
                sys.exit(f"{name} has ended")

    def seconds(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def encode_all(options, names):
    workers = {name: Worker(options, name) for name in names}
    times = {name: [] for name in names}
    for _ in range(options.rounds):
        for name, worker in workers.items():
            times[name].append(worker.seconds())
            print(f"{name}: {times[name][-1]:.2f} s", file=sys.stderr)
    vectors = {name: np.load(os.path.join(options.work, name + ".npy"))
               for name in names}
    for worker in workers.values():
        worker.process.stdin.close()
        worker.process.wait()
    own = vectors[names[0]]
    for name in names:
        other = vectors[name]
        cosines = (own * other).sum(1) / np.linalg.norm(own, axis=1) \
            / np.linalg.norm(other, axis=1)
        print(json.dumps({
            "peer": name, "threads": options.threads, "texts": options.texts,
            "seconds": statistics.median(times[name]),
            "best": min(times[name]), "least cosine": float(cosines.min())}))


def first_vectors(options, names):
    peers = os.path.join(os.path.dirname(__file__), "text_peers.py")
    inside = {name: [] for name in names}
    whole = {name: [] for name in names}
    for turn in range(options.rounds + 1):
        for name in names:
            begin = time.perf_counter()
            said = subprocess.run(
                [sys.executable, peers, options.folder, options.work, name,
                 str(options.threads)], check=True, stdout=subprocess.PIPE,
                text=True, env=environment(options.threads)).stdout
            if turn:  # the first one brings files into memory
                whole[name].append(time.perf_counter() - begin)
                inside[name].append(float(said.split()[-1]))
    for name in names:
        print(json.dumps({
            "peer": name, "first": round(min(inside[name]), 4),
            "median": round(statistics.median(inside[name]), 4),
            "process": round(min(whole[name]), 4),
            "median process": round(statistics.median(whole[name]), 4)}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", help="names, with commas between them")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--work", help="graphs and vectors go here")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder = str(pathlib.Path(options.folder).resolve())
    options.work = options.work or tempfile.gettempdir()
    names = options.peers.split(",") if options.peers else \
        [name for name in text_peers.PEERS
         if options.first or name != "mille package"]
    if options.worker:
        work_as(options)
    elif options.first:
        first_vectors(options, names)
    else:
        encode_all(options, names)


if __name__ == "__main__":
    main()
