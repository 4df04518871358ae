"""What the benchmarks on a device share: packages without their weights, medians, the
device's own peak. Must not know a model."""
import os
import shutil
import struct
import subprocess
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)

HEADER = struct.Struct("<8sIIQQQQQ")  # of abi.h, up to data_offset


def start_folder(folder):
    """An empty folder with the loader in it."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copy(os.path.join(ROOT, "build", "lib", "libmille_loader.so.0"),
                os.path.join(folder, "libmille_loader.so"))


def compile_package(mille, model, package, dtype, options=()):
    """A package for CUDA that is small enough to carry."""
    subprocess.run([mille, "compile", model, "-o", package, "--name=model",
                    "--target=cuda", "--dtype=" + dtype, "--weights=random:1", *options],
                   check=True, stdout=subprocess.DEVNULL)
    shorten(os.path.join(package, "model.weights"))
    for ending in ".a", ".h", ".mlir":
        os.remove(os.path.join(package, "model" + ending))


def shorten(path):
    with open(path, "rb+") as file:
        first = HEADER.unpack(file.read(HEADER.size))[-1]
        file.truncate(first)


def fill(path, seed=1):
    import numpy
    with open(path, "rb+") as file:
        header = HEADER.unpack(file.read(HEADER.size))
        size, first = header[3], header[-1]
        if os.path.getsize(path) == size:
            return
        random = numpy.random.default_rng(seed)
        some = (0.02 * random.standard_normal(1 << 24, "f4")).view("u4") >> 16
        some = some.astype("u2").tobytes()
        file.seek(first)
        for left in range(size - first, 0, -len(some)):
            file.write(some[:left])


def median(times):
    return sorted(times)[len(times) // 2]


def time_of(run, least=0.4):
    for _ in range(4):
        run()
    times = []
    start = time.time()
    while time.time() - start < least or len(times) < 5:
        begin = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - begin))
    return median(times)


def on_device(shape):
    """Outputs stay where torch's stay."""
    import torch
    value = torch.empty(shape, device="cuda", dtype=torch.float32)
    return value, value.data_ptr()


def pinned(shape):
    """Outputs come to the host's memory, where the driver can copy at once."""
    import torch
    value = torch.empty(shape, dtype=torch.float32, pin_memory=True)
    return value, value.data_ptr()


def peaks():
    """Of products in bf16 and of copies, by torch: flops and bytes a millisecond."""
    import torch
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
            for _ in range(2))
    copied = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)
    other = torch.empty_like(copied)

    def product():
        a @ b
        torch.cuda.synchronize()

    def copy():
        other.copy_(copied)
        torch.cuda.synchronize()
    flops = 2 * 8192 ** 3 / time_of(product)
    moved = 2 * (1 << 30) / time_of(copy)
    print(f"{torch.cuda.get_device_name(0)}: product in bf16 {flops / 1e9:.0f} "
          f"TFLOP/s, copy {moved / 1e9:.2f} TB/s", flush=True)
    return flops, moved
