#!/usr/bin/env python3
"""Training steps beside torch's, in one interleaved run.

  train.py [--mille PATH] [--python PYTHON] [--jax PYTHON]
           [--peers eager,compile,checkpoint,jax,remat] [--cases 12,100,bert]
           [--rounds 3] [--threads 1] [--recompute WHAT] [--dtype f32|bf16]

A case is a number of layers of the narrow DeepNorm stack (hidden 256, feed-forward 1024,
4 heads, 8 sequences of 64 tokens) or `bert` (12 layers of BERT-base's shape, 4 of 128
tokens); all have learned positions and 1000 classes, and AdamW updates in f32. With bf16
torch runs under its autocast. `checkpoint` is eager torch that computes each layer anew on
the way back, as --recompute=layer does. `jax` is a jitted step in JAX whose layers are one
scan, `remat` the same with jax.checkpoint around a layer. In each round every peer has a
turn of some steps, of which the first does not count. PYTHON is that of a virtual
environment with torch, or with jax (this one, if it has them). Floating-point operations
are those of three forward passes: what is computed anew does not count.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tools"))
import trained_stack  # noqa: E402

NARROW, BERT = (256, 1024, 4, 8, 64), (768, 3072, 12, 4, 128)
CLASSES = 1000
RATE, DECAY = 1e-4, 0.01
JAX_MODES = "jax", "remat"


def shape_of(case):
    return (BERT, 12) if case == "bert" else (NARROW, int(case))


def operations(case):
    (hidden, inner, _, batch, tokens), layers = shape_of(case)
    each = batch * ((4 * hidden * hidden + 2 * hidden * inner) * 2 * tokens
                    + 4 * tokens * tokens * hidden)
    return 3 * (layers * each + 2 * batch * tokens * hidden * CLASSES)


def spec(case):
    (hidden, inner, heads, _, tokens), layers = shape_of(case)
    return trained_stack.stack(layers, hidden, inner, heads, CLASSES, tokens,
                               "bidirectional", {"scheme": "deepnorm", "seed": 3},
                               {"optimizer": "adamw", "rate": RATE,
                                "weight_decay": DECAY})


class Mille:
    def __init__(self, options, case, folder):
        self.options, self.case, self.folder = options, case, folder
        _, _, _, self.batch, self.tokens = shape_of(case)[0]
        path = os.path.join(folder, "m.json")
        with open(path, "w") as file:
            json.dump(spec(case), file)
        data = os.path.join(folder, "data")
        with open(data, "wb") as file:
            for i in range(256 * self.tokens + 1):
                file.write((i * 7919 % CLASSES).to_bytes(2, "little"))
        begin = time.perf_counter()
        subprocess.run([options.mille, "compile", path, "--train",
                        "--recompute=" + options.recompute,
                        "--dtype=" + options.dtype, "-o", folder + "/m"],
                       check=True)
        print("mille %s: compiled in %.1f s" % (case, time.perf_counter() - begin))

    def turn(self, steps):
        log = os.path.join(self.folder, "log")
        subprocess.run([self.options.mille, "train", self.folder + "/m",
                        "--data=" + self.folder + "/data", "--tokens=%d" % self.tokens,
                        "--batch=%d" % self.batch, "--steps=%d" % (steps + 1),
                        "--threads=%d" % self.options.threads, "--log=" + log],
                       check=True, stdout=subprocess.DEVNULL)
        with open(log) as file:
            at = [json.loads(line)["seconds"] for line in file]
        self.peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        return [after - before for before, after in zip(at, at[1:])]


class Peer:
    """A process that stays alive: a line with a number in, that many times out."""

    def __init__(self, options, case, mode):
        python = options.jax if mode in JAX_MODES else options.python
        self.worker = subprocess.Popen(
            [python, os.path.abspath(__file__), "--worker", mode, case,
             "--threads=%d" % options.threads, "--dtype=" + options.dtype],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        print("%s %s: first step after %s s"
              % (mode, case, self.worker.stdout.readline().strip()))

    def turn(self, steps):
        self.worker.stdin.write("%d\n" % (steps + 1))
        self.worker.stdin.flush()
        return json.loads(self.worker.stdout.readline())[1:]


def stack(case, checkpoints=False):
    import torch
    from torch.utils.checkpoint import checkpoint
    (hidden, inner, heads, batch, tokens), layers = shape_of(case)
    alpha = (2 * layers) ** 0.25

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            linear = torch.nn.Linear
            self.q, self.k, self.v, self.o = (linear(hidden, hidden) for _ in range(4))
            self.up, self.down = linear(hidden, inner), linear(inner, hidden)
            self.first, self.second = (torch.nn.LayerNorm(hidden) for _ in range(2))

        def forward(self, x):
            q, k, v = (part(x).view(batch, tokens, heads, -1).transpose(1, 2)
                       for part in (self.q, self.k, self.v))
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
            x = self.first(alpha * x + self.o(y.transpose(1, 2).reshape(x.shape)))
            y = torch.nn.functional.gelu(self.up(x))
            return self.second(alpha * x + self.down(y))

    class Stack(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(CLASSES, hidden)
            self.position = torch.nn.Parameter(0.02 * torch.randn(tokens, hidden))
            self.layers = torch.nn.ModuleList(Layer() for _ in range(layers))
            self.head = torch.nn.Linear(hidden, CLASSES, bias=False)

        def forward(self, ids, labels):
            x = self.embed(ids) + self.position
            for layer in self.layers:
                x = checkpoint(layer, x, use_reentrant=False) if checkpoints \
                    else layer(x)
            return torch.nn.functional.cross_entropy(
                self.head(x).flatten(0, 1), labels.flatten())

    return Stack(), torch.randint(0, CLASSES, (2, batch, tokens))


def torch_step(options):
    import torch
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    mode, case = options.worker
    model, (ids, labels) = stack(case, mode == "checkpoint")
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY,
                                  fused=True)
    run = torch.compile(model, dynamic=False) if mode == "compile" else model

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, options.dtype == "bf16"):
            loss = run(ids, labels)
        loss.backward()
        optimizer.step()
    return step


def jax_model(case, remat):
    """The parameters, of which those of layers have a dimension more, and the loss."""
    import jax
    import jax.numpy as jnp
    (hidden, inner, heads, batch, tokens), layers = shape_of(case)
    alpha, size = (2 * layers) ** 0.25, hidden // heads
    keys = iter(jax.random.split(jax.random.key(1), 16))

    def drawn(*shape):
        return 0.02 * jax.random.normal(next(keys), shape)

    stacked = {name: (drawn(layers, fan_in, out), jnp.zeros((layers, out)))
               for name, fan_in, out in [(n, hidden, hidden) for n in "qkvo"]
               + [("up", hidden, inner), ("down", inner, hidden)]}
    for name in ("first", "second"):
        stacked[name] = jnp.ones((layers, hidden)), jnp.zeros((layers, hidden))
    parameters = {"embed": drawn(CLASSES, hidden), "position": drawn(tokens, hidden),
                  "head": drawn(hidden, CLASSES), "layers": stacked}

    def linear(x, by):
        return x @ by[0] + by[1]

    def norm(x, by):
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * by[0] + by[1]

    def layer(x, by):
        q, k, v = (linear(x, by[n]).reshape(batch, tokens, heads, size) for n in "qkv")
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / size ** 0.5
        y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
        x = norm(alpha * x + linear(y.reshape(x.shape), by["o"]), by["first"])
        y = jax.nn.gelu(linear(x, by["up"]), approximate=False)
        return norm(alpha * x + linear(y, by["down"]), by["second"]), None

    def loss(by, ids, labels):
        x = by["embed"][ids] + by["position"]
        x, _ = jax.lax.scan(jax.checkpoint(layer) if remat else layer, x, by["layers"])
        logits = jax.nn.log_softmax(x @ by["head"])
        return -jnp.take_along_axis(logits, labels[..., None], -1).mean()

    ids, labels = jax.random.randint(next(keys), (2, batch, tokens), 0, CLASSES)
    return parameters, loss, ids, labels


def jax_step(options):
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:options.threads])
    import jax
    import jax.numpy as jnp
    mode, case = options.worker
    parameters, loss, ids, labels = jax_model(case, mode == "remat")
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state = parameters, zeros, jax.tree.map(jnp.zeros_like, zeros), 0.0

    def update(state, ids, labels):
        parameters, means, squares, count = state
        gradients = jax.grad(loss)(parameters, ids, labels)
        count += 1
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
        squares = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, squares, gradients)
        first, second = 1 - 0.9 ** count, 1 - 0.999 ** count
        return jax.tree.map(
            lambda w, m, v: w * (1 - RATE * DECAY)
            - RATE * (m / first) / (jnp.sqrt(v / second) + 1e-8),
            parameters, means, squares), means, squares, count

    run = jax.jit(update, donate_argnums=0)

    def step():
        nonlocal state
        state = jax.block_until_ready(run(state, ids, labels))
    return step


def work(options):
    begin = time.perf_counter()
    step = (jax_step if options.worker[0] in JAX_MODES else torch_step)(options)

    def timed():
        at = time.perf_counter()
        step()
        return time.perf_counter() - at

    timed()
    print("%.1f" % (time.perf_counter() - begin), flush=True)
    for line in sys.stdin:
        print(json.dumps([timed() for _ in range(int(line))]), flush=True)


def measure(options, case):
    with tempfile.TemporaryDirectory() as folder:
        peers = {"mille": Mille(options, case, folder)}
        for mode in options.peers.split(",") if options.peers else []:
            peers[mode] = Peer(options, case, mode)
        times = {name: [] for name in peers}
        steps = max(2, int(4e12 / operations(case) / 12))
        for _ in range(options.rounds):
            for name, peer in peers.items():
                times[name] += peer.turn(min(steps, 20))
        mille = statistics.median(times["mille"])
        for name, taken in times.items():
            middle = statistics.median(taken)
            print("%-5s %-14s median %8.1f ms, least %8.1f, %6.1f GFLOP/s, %4.2f of "
                  "mille's time, %d steps"
                  % (case, name, 1e3 * middle, 1e3 * min(taken),
                     operations(case) / middle / 1e9, middle / mille, len(taken)))
        print("%-5s mille's largest memory %.2f GB" % (case, peers["mille"].peak / 1e6))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mille", default=os.path.join(TOP, "build", "bin", "mille"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--jax", default=sys.executable)
    parser.add_argument("--peers", default="eager,compile")
    parser.add_argument("--cases", default="12,100,bert")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--recompute", default="cheap")
    parser.add_argument("--dtype", default="f32", choices=["f32", "bf16"])
    parser.add_argument("--worker", nargs=2)
    options = parser.parse_args()
    if options.worker:
        return work(options)
    for case in options.cases.split(","):
        measure(options, case)
    return 0


if __name__ == "__main__":
    sys.exit(main())
