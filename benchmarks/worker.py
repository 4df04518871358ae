"""A process of one peer, told by lines of JSON on stdin what to do.

  worker.py PEER CORES [CASE.json]
      {"open": CASE}   -> {"seconds": to the first result, "version": ..., in what it
                          differs, and of a device its name and peak}
      {"run": N}       -> {"ms": [N times]}; a run of less than 0.1 s has one before
                          it that does not count, to have caches as they are then
      {"save": FILE}   -> {}, the last result as bytes of f32
  and, where that fails, {"refused": why}

With a file of a case: opens it, prints the first number of its first result, and
ends. CORES: the numbers of the cores to stay on, with commas. Must not know which
workload it serves.
"""
import ctypes
import functools
import importlib
import json
import os
import signal
import struct
import sys
import time


def limit_threads(cores):
    """Must run before numeric libraries are loaded: they read the limits once."""
    os.sched_setaffinity(0, cores)
    for name in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                 "TORCHINDUCTOR_COMPILE_THREADS"]:
        os.environ[name] = str(len(cores))


class Serving:
    def __init__(self, name):
        self.name, self.peer, self.encoder = name, None, None
        self.last = 0.0  # ms

    def read(self, path):
        """The weights, read once for all cases of one model."""
        from encoder import Encoder
        if self.encoder is None or self.encoder[0] != path:
            self.encoder = path, Encoder(path)
        return self.encoder[1]

    def open(self, case):
        self.peer = None  # the case before gives its memory back first
        module = importlib.import_module("peers." + self.name)
        encoder = functools.partial(self.read, case["model"])
        getattr(module, "prepare", lambda *_: None)(case, encoder)
        start = time.perf_counter()
        self.peer = module.Peer(case, encoder)
        self.peer.run()
        took = time.perf_counter() - start
        self.last = 0.0
        return {"seconds": took + getattr(self.peer, "compiled_before", 0.0),
                "version": module.VERSION,
                "device": getattr(self.peer, "device", None),
                "peak_gflops": getattr(self.peer, "peak_gflops", None),
                "differs_in": getattr(self.peer, "differs_in", None)}

    def run(self, count):
        times = []
        if self.last < 100:
            self.peer.run()
        for _ in range(count):
            start = time.perf_counter()
            self.peer.run()
            times.append((time.perf_counter() - start) * 1e3)
        self.last = times[-1]
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


def end_with_parent():
    """Ends with its parent: a stopped process would not notice the parent's end."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main():
    end_with_parent()
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
