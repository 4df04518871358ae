#!/usr/bin/env python3
"""Single kernels on a device of CUDA, beside those of PyTorch in the same process.

  cuda_kernels.py prepare DIR [--mille=build/bin/mille]   compiles; DIR can be carried
  cuda_kernels.py run DIR [--device=cuda] [--only=WORD]   NumPy, torch and a device

A kernel is that of a stack of one layer or two: products with a GELU, with a skip that
is scaled, with a norm behind them; attention; rows. Times are of the device's clock
alone, as CUPTI gives them to torch.profiler for every kernel of the process; the median
of 30 runs, once the device has been at work for a while: large products run into its
limit of power, and then the clock of all is lower than that of the first runs. Weights are drawn and results mean nothing (see cuda.py). Peers: torch's
product (cuBLAS), and its product followed by the same mathematics, eager and compiled;
the fastest of its back ends of attention.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, os.pardir)
sys.path.insert(0, os.path.join(ROOT, "tools", "cuda"))
from on_device import compile_package, fill, median, on_device, peaks, start_folder

ALPHA = 1.5
RUNS = 30
WARM = 0.3  # seconds


def stack(hidden, unit):
    return {"name": "m", "layers": 2, "hidden_size": hidden, "vocab_size": 1024,
            "layer_weights": [0, 0], "units": [unit]}


def ffn(hidden, inner, norm):
    unit = {"name": "ffn", "skip_scale": {"kind": "const", "value": ALPHA},
            "branches": [{"name": "ffn", "kind": "ffn", "intermediate_size": inner,
                          "act": "gelu_erf", "gated": "none",
                          "bias": {"in": True, "out": True}}]}
    if norm:
        unit["out_norm"] = {"kind": "layer_norm", "affine": "weight", "bias": True,
                            "eps": 1e-5}
    return stack(hidden, unit)


def attention(hidden, columns, causal):
    return stack(hidden, {"name": "attn", "branches": [
        {"name": "attn", "kind": "attention", "heads": hidden // columns,
         "kv_heads": hidden // columns, "head_dim": columns,
         "mask": "causal" if causal else "bidirectional",
         "logit_scale": {"static": "rsqrt_head_dim"}}]})


# name: spec, and (batch, tokens) of its runs
FFN = {"4096": (4096, 4096, False, (8, 512)), "8192": (8192, 8192, False, (16, 512)),
       "768": (768, 3072, True, (32, 384)), "1024": (1024, 4096, True, (32, 512))}
HIDDEN = 2048
ATTENTION = [(columns, causal) for columns in (64, 128, 256)
             for causal in (False, True)]
TOKENS = 4096, 16384  # 16384 rows in all


def attention_name(columns, causal):
    return f"attention-{columns}{'-causal' if causal else ''}"


def specs():
    for name, (hidden, inner, norm, _) in FFN.items():
        yield "ffn-" + name, ffn(hidden, inner, norm)
    for columns, causal in ATTENTION:
        yield attention_name(columns, causal), attention(HIDDEN, columns, causal)


def prepare(folder, mille):
    start_folder(folder)
    for name, spec in specs():
        path = os.path.join(folder, name + ".json")
        with open(path, "w") as file:
            json.dump(spec, file)
        package = os.path.join(folder, name)
        compile_package(mille, path, package, "bf16")
        report = subprocess.run([mille, "report", package], check=True, text=True,
                                capture_output=True).stdout
        kernels = re.findall(r"^ *(mille_k_[0-9a-f]+) +(.*?)  ", report, re.M)
        with open(os.path.join(package, "kernels.json"), "w") as file:
            json.dump(kernels, file)


def kernel_times(run):
    """Kernel's name -> microseconds of each of its calls in RUNS runs, in order."""
    from torch.profiler import ProfilerActivity, profile
    import torch
    run()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        # Inside, since the profiler takes its time to start.
        before, start = 0, time.time()
        while time.time() - start < WARM:
            for _ in range(5):
                run()
            before += 5
            torch.cuda.synchronize()
        for _ in range(RUNS):
            run()
        torch.cuda.synchronize()
    times = {}
    for event in sorted(seen.events(), key=lambda event: event.time_range.start):
        if event.device_type == torch.autograd.DeviceType.CUDA:
            times.setdefault(event.name, []).append(event.time_range.elapsed_us())
    # A kernel may be launched several times a run.
    return {name: of[len(of) * before // (before + RUNS):]
            for name, of in times.items()}


def time_of_all(run):
    """Microseconds of all kernels of a run together."""
    return sum(sum(of) for of in kernel_times(run).values()) / RUNS


class Ours:
    """The kernels of a package, in the order of the program."""

    def __init__(self, folder, name, batch, tokens, device):
        import numpy
        from package import Package, Session
        place = os.path.join(folder, name)
        fill(os.path.join(place, "model.weights"))
        package = Package(os.path.join(folder, "libmille_loader.so"), place)
        ids = numpy.random.default_rng(2).integers(0, 1000, (batch, tokens), "i4")
        values = {"input_ids": ids}
        sizes = package.sizes_of(values)
        session = Session(package, sizes, device)
        session.bind(values, sizes, on_device)
        # Else a kernel begins before the one before it ends, and its time holds
        # that wait.
        session.one_by_one()
        self.times = kernel_times(session.run)
        session.close()
        package.close()
        with open(os.path.join(place, "kernels.json")) as file:
            self.kernels = json.load(file)

    def has(self, begins):
        return any(does.startswith(begins) for _, does in self.kernels)

    def of(self, begins, which=0):
        """Median microseconds of a kernel whose description begins so."""
        symbol = [symbol for symbol, does in self.kernels
                  if does.startswith(begins)][which]
        return median([us for name, of in self.times.items() if symbol in name
                       for us in of])


def line(what, microseconds, work, unit, peers):
    words = [f"{what}: {microseconds:.1f} us, {work / microseconds / 1e6:.4g} {unit}"]
    for name, other in peers.items():
        words.append(f"{name} {other:.1f} us ({other / microseconds:.2f}x)")
    print(", ".join(words), flush=True)


def random(*shape):
    import torch
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def product_peers(rows, inner, columns, after):
    """torch's product alone, with bias and `after` in kernels of their own, and those
    compiled."""
    import torch
    x, weight, bias = random(rows, inner), random(columns, inner), random(columns)
    skip = torch.randn(rows, columns, device="cuda")
    linear = torch.nn.functional.linear

    def whole():
        return after(linear(x, weight, bias), skip)
    compiled = torch.compile(whole)
    with torch.inference_mode():
        return {"cuBLAS alone": time_of_all(lambda: linear(x, weight)),
                "and separate kernels": time_of_all(whole),
                "torch.compile": time_of_all(compiled)}


def add(y, skip):
    return y + ALPHA * skip


def add_and_norm(y, skip):
    """The norm in f32, and its copy in bf16, as the kernel of both gives them."""
    import torch
    normed = torch.nn.functional.layer_norm(add(y, skip), skip.shape[-1:])
    return normed, normed.bfloat16()


def products(folder, device, only):
    import torch
    for name, (hidden, inner, norm, (batch, tokens)) in FFN.items():
        if only not in "ffn-" + name:
            continue
        rows = batch * tokens
        ours = Ours(folder, "ffn-" + name, batch, tokens, device)
        work = 2 * rows * hidden * inner
        line(f"{rows} x {hidden} x {inner}, bias, GELU",
             ours.of(f"matmul {hidden} -> {inner}"), work, "TFLOP/s",
             product_peers(rows, hidden, inner, lambda y, _:
                           torch.nn.functional.gelu(y)))
        # Where both sizes are equal, both kernels have one description.
        apart = norm and ours.has(f"rows {hidden}, layer norm")
        joined = norm and not apart
        line(f"{rows} x {inner} x {hidden}, bias, alpha * skip" +
             (", norm" if joined else ""),
             ours.of(f"matmul {inner} -> {hidden}", int(inner == hidden)), work,
             "TFLOP/s", product_peers(rows, inner, hidden, add_and_norm if joined
                                      else add))
        if apart:
            took = ours.of(f"rows {hidden}, layer norm")
            moved = rows * hidden * (4 + 4)
            line(f"norm of {rows} x {hidden}", took, moved, "TB/s", {})


def attention_peers(batch, tokens, columns, causal):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    heads = [random(batch, HIDDEN // columns, tokens, columns) for _ in range(3)]
    times = {}
    for back in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
        with sdpa_kernel([back]), torch.inference_mode():
            times[str(back).split(".")[-1].lower()] = time_of_all(
                lambda: torch.nn.functional.scaled_dot_product_attention(
                    *heads, is_causal=causal))
    return times


def attentions(folder, device, only):
    for columns, causal in ATTENTION:
        if only not in attention_name(columns, causal):
            continue
        for tokens in TOKENS:
            batch = max(TOKENS) // tokens
            ours = Ours(folder, attention_name(columns, causal), batch, tokens, device)
            work = 4 * batch * HIDDEN * tokens * tokens / (2 if causal else 1)
            line(f"attention, heads of {columns}, {batch} x {tokens}"
                 f"{', causal' if causal else ''}", ours.of("attention"), work,
                 "TFLOP/s", attention_peers(batch, tokens, columns, causal))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("folder")
    parser.add_argument("--mille", default=os.path.join(ROOT, "build/bin/mille"))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="", help="kernels whose name has this")
    arguments = parser.parse_args()
    if arguments.what == "prepare":
        prepare(arguments.folder, arguments.mille)
        return
    peaks()
    products(arguments.folder, arguments.device, arguments.only)
    attentions(arguments.folder, arguments.device, arguments.only)


if __name__ == "__main__":
    main()
