"""A process of one peer, told by lines of JSON on stdin what to do.

  worker.py PEER CORES [CASE.json]
      {"open": CASE}   -> {"seconds": to the first result, "version": ...}
      {"run": N}       -> {"ms": [N times]}, after one run that is not counted
      {"save": FILE}   -> {}, the last result as bytes of f32
  and, where that fails, {"refused": why}

With a file of a case: opens it, prints the first number of its first result, and
ends. CORES: the numbers of the cores to stay on, with commas. Must not know which
workload it serves.
"""
import importlib
import json
import os
import struct
import sys
import time


def limit_threads(cores):
    """Before any numeric library is there: they look once."""
    os.sched_setaffinity(0, cores)
    for name in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                 "TORCHINDUCTOR_COMPILE_THREADS"]:
        os.environ[name] = str(len(cores))


class Serving:
    def __init__(self, name):
        self.name, self.peer, self.encoder = name, None, None

    def read(self, path):
        """The weights, read once for all cases of one model."""
        from encoder import Encoder
        if self.encoder is None or self.encoder[0] != path:
            self.encoder = path, Encoder(path)
        return self.encoder[1]

    def open(self, case):
        self.peer = None  # the case before gives its memory back first
        start = time.perf_counter()
        module = importlib.import_module("peers." + self.name)
        self.peer = module.Peer(case, lambda: self.read(case["model"]))
        self.peer.run()
        return {"seconds": time.perf_counter() - start, "version": module.VERSION}

    def run(self, count):
        self.peer.run()
        times = []
        for _ in range(count):
            start = time.perf_counter()
            self.peer.run()
            times.append((time.perf_counter() - start) * 1e3)
        return {"ms": times}

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.peer.output())
        return {}


def first_number(serving, path):
    with open(path) as file:
        serving.open(json.load(file))
    print(struct.unpack("<f", serving.peer.output()[:4])[0], flush=True)
    os._exit(0)  # what a library does to end is not asked for


def main():
    limit_threads([int(core) for core in sys.argv[2].split(",")])
    if len(sys.argv) > 3:
        first_number(Serving(sys.argv[1]), sys.argv[3])
    # Libraries print: what they print goes to stderr.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serving = Serving(sys.argv[1])
    for line in sys.stdin:
        ((word, argument),) = json.loads(line).items()
        try:
            answer = getattr(serving, word)(argument)
        except Exception as error:  # whatever a peer raises is its answer
            text = " ".join(str(error).split()) or type(error).__name__
            answer = {"refused": text[:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
