#!/usr/bin/env python3
"""Tiles of a product's kernel on a device of CUDA, beside cuBLAS by turns.

  cuda_tiles.py prepare DIR [SIZE...]   kernels by build/test/programs/kernel-printer, and ptxas
  cuda_tiles.py run DIR [SIZE...]       torch and a device

A large product runs into the device's limit of power, and the clock falls. So all
kernels of a size, and torch's products, are launched by turns in the same rounds, after
the device has been at work for a while; each line is the median of its rounds. Results
are compared with torch's at some rows. SIZE: rows x columns x K, as 4096x4096x4096.
"""
import argparse
import ctypes as c
import json
import os
import subprocess
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
PRINTER = os.path.join(ROOT, "build", "test", "programs", "kernel-printer")

ALPHA = 1.5
SIZES = ["4096x4096x4096", "8192x8192x8192", "12288x3072x768", "12288x768x3072"]
# columns, blocks of 64 rows of a group, blocks of a cluster, in turns
TILES = ["256,1,1,0", "256,1,2,0", "192,1,1,0", "128,1,1,0", "192,2,1,1", "128,2,1,1",
         "256,1,1,1"]
GELU = """%half = arith.constant 0.5 : f32
    %c = arith.constant -0.70710678118 : f32
    %u = arith.mulf %s, %c : f32
    %e = math.erfc %u : f32
    %v = arith.mulf %s, %half : f32
    %y = arith.mulf %v, %e : f32"""
SKIP = f"""%c = arith.constant {ALPHA} : f32
    %q = arith.mulf %skip, %c : f32
    %y = arith.addf %s, %q : f32"""
# name: the epilogue behind a bias, the type of the out and of a skip
KINDS = {"gelu": (GELU, "bf16", False), "skip-f32": (SKIP, "f32", True),
         "skip-bf16": (SKIP, "bf16", True)}
ROUNDS = 12
WARM = 0.3  # seconds


def kernel_text(kind, columns, inner):
    body, out, skips = KINDS[kind]
    out = f"memref<?x{columns}x{out}>"
    kinds = f"memref<{columns}xf32>" + (f", {out}" if skips else "")
    return f"""func.func @f(%x: memref<?x{inner}xbf16>, %w: memref<{columns}x{inner}xbf16>,
              %b: memref<{columns}xf32>{f', %r: {out}' if skips else ''}, %o: {out}) {{
  kernel.matmul %x, %w extras(%b{', %r' if skips else ''} : {kinds}) outs(%o : {out})
      accumulators 1 {{
  ^bb0(%a: f32, %bias: f32{', %skip: f32' if skips else ''}):
    %s = arith.addf %a, %bias : f32
    {body}
    kernel.yield %y : f32
  }} : memref<?x{inner}xbf16>, memref<{columns}x{inner}xbf16>
  return
}}
"""


def prepare(folder, sizes):
    os.makedirs(folder, exist_ok=True)
    for size in sizes:
        rows, columns, inner = map(int, size.split("x"))
        for kind in KINDS:
            for tile in TILES:
                path = os.path.join(folder, f"{size}.{kind}.{tile}")
                with open(path + ".mlir", "w") as file:
                    file.write(kernel_text(kind, columns, inner))
                printed = subprocess.run([PRINTER, "launch", path + ".mlir", tile],
                                         check=True, text=True, capture_output=True)
                launch, ptx = printed.stdout.split("\n", 1)
                with open(path + ".json", "w") as file:
                    file.write(launch)
                with open(path + ".ptx", "w") as file:
                    file.write(ptx)
                subprocess.run([os.environ.get("MILLE_PTXAS", "ptxas"), "-arch=sm_90a",
                                "-O3", path + ".ptx", "-o", path + ".cubin"], check=True)
                for ending in ".mlir", ".ptx":
                    os.remove(path + ending)


class Driver:
    def __init__(self):
        self.library = c.CDLL("libcuda.so.1")

    def __getattr__(self, name):
        def call(*arguments):
            if code := getattr(self.library, name)(*arguments):
                words = c.c_char_p()
                self.library.cuGetErrorString(code, c.byref(words))
                raise RuntimeError(f"{name}: {words.value.decode()}")
        return call

    def load(self, path, launch):
        module, function = c.c_void_p(), c.c_void_p()
        with open(path + ".cubin", "rb") as file:
            self.cuModuleLoadData(c.byref(module), file.read())
        self.cuModuleGetFunction(c.byref(function), module, launch["entry"].encode())
        self.cuFuncSetAttribute(function, 8, launch["shared"])  # most shared bytes
        return function


def launcher(driver, path, buffers, rows):
    """A function that launches the kernel on torch's stream."""
    import torch
    with open(path + ".json") as file:
        launch = json.load(file)

    def amount(of):  # count * times / per, rounded up
        count, times, per = of
        return -(-(rows if count else 1) * times // max(per, 1))

    function = driver.load(path, launch)
    kept, arguments = [], (c.c_void_p * len(launch["arguments"]))()
    for i, what in enumerate(launch["arguments"]):
        buffer = buffers[what["number"]] if what["kind"] < 2 else None
        if what["kind"] == 1:
            room = (c.c_char * 256)()
            place = (c.addressof(room) + 63) & ~63
            of = what["dimensions"]
            sizes = [amount(extent) for extent, _, _ in of]
            strides = [amount(stride) for _, stride, _ in of[1:]]
            driver.cuTensorMapEncodeTiled(
                c.c_void_p(place), 9 if buffer.dtype == torch.bfloat16 else 7, len(of),
                c.c_void_p(buffer.data_ptr()), (c.c_uint64 * len(of))(*sizes),
                (c.c_uint64 * len(strides))(*strides),
                (c.c_uint32 * len(of))(*[box for _, _, box in of]),
                (c.c_uint32 * len(of))(*[1] * len(of)), 0, 3, 3, 0)
            kept.append(room)
            arguments[i] = place
            continue
        value = (c.c_uint64(buffer.data_ptr()) if what["kind"] == 0
                 else c.c_int32(amount(what["amount"])))
        kept.append(value)
        arguments[i] = c.addressof(value)
    blocks = 1
    for tiles in launch["tiles"]:
        blocks *= amount(tiles)
    units = torch.cuda.get_device_properties(0).multi_processor_count
    blocks = min(blocks, units // launch["cluster"]) * launch["cluster"]
    stream = c.c_void_p(torch.cuda.current_stream().cuda_stream)

    def run():
        driver.cuLaunchKernel(function, blocks, 1, 1, launch["threads"], 1, 1,
                              launch["shared"], stream, arguments, None)
        return kept
    return run


def by_turns(runs, times):
    """Microseconds of each."""
    import torch
    start = time.time()
    while time.time() - start < WARM:
        for run in runs.values():
            run()
        torch.cuda.synchronize()
    took = {name: [] for name in runs}
    for _ in range(ROUNDS):
        marks = []
        for name, run in runs.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(times):
                run()
            end.record()
            marks.append((name, begin, end))
        torch.cuda.synchronize()
        for name, begin, end in marks:
            took[name].append(1e3 * begin.elapsed_time(end) / times)
    return {name: sorted(of)[len(of) // 2] for name, of in took.items()}


def run_size(driver, folder, size):
    import torch
    rows, columns, inner = map(int, size.split("x"))

    def random(*shape, dtype=torch.bfloat16):
        return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)
    x, weight, bias = random(rows, inner), random(columns, inner), random(columns).float()
    narrow = bias.bfloat16()
    linear, gelu = torch.nn.functional.linear, torch.nn.functional.gelu
    skips = {"f32": random(rows, columns, dtype=torch.float32),
             "bf16": random(rows, columns)}
    runs = {"cuBLAS alone": lambda: linear(x, weight),
            "and GELU": lambda: gelu(linear(x, weight, narrow)),
            "and skip, f32": lambda: linear(x, weight, narrow) + ALPHA * skips["f32"]}
    some = torch.arange(0, rows, 61, device="cuda")
    sums = x[some].float() @ weight.float().T + bias
    for kind, (_, out, reads) in KINDS.items():
        wanted = sums + ALPHA * skips[out][some].float() if reads else gelu(sums)
        for tile in TILES:
            y = torch.zeros_like(skips[out])
            buffers = [x, weight, bias] + ([skips[out]] if reads else []) + [y]
            run = launcher(driver, os.path.join(folder, f"{size}.{kind}.{tile}"), buffers,
                           rows)
            run()
            error = ((y[some].float() - wanted).norm() / wanted.norm()).item()
            if not error < 6e-3:
                print(f"{size} {kind} {tile}: is wrong by {error:.2e}", flush=True)
            runs[f"{kind} {tile}"] = run
    took = by_turns(runs, 4 if rows * columns * inner > 1e11 else 10)
    for name, us in took.items():
        print(f"{size} {name:22} {us:8.1f} us {2e-6 * rows * columns * inner / us:5.0f} "
              f"TFLOP/s {took['cuBLAS alone'] / us:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("folder")
    parser.add_argument("sizes", nargs="*", default=SIZES)
    arguments = parser.parse_args()
    if arguments.what == "prepare":
        prepare(arguments.folder, arguments.sizes)
        return
    import torch
    print(torch.cuda.get_device_name(0), torch.__version__, flush=True)
    torch.zeros(1, device="cuda")  # a context
    for size in arguments.sizes:
        run_size(Driver(), arguments.folder, size)


if __name__ == "__main__":
    main()
