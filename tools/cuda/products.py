#!/usr/bin/env python3
"""How exact a device's products of f32 are, which tensor cores add by parts.

  products.py prepare DIR [--mille=build/bin/mille]   compiles; DIR is small enough to carry
  products.py run DIR [--device=cuda]                 a machine with the device and NumPy

A model is x + V relu(W x) with V's K as long as its name says. Each line has the largest
error beside the same in double, in u sum |v h| with u = 2^-24, of the device and of NumPy's
f32; the same as a root of the mean square of the out; and whether a row has the same bits
among few rows and among many.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, os.pardir, os.pardir)
HIDDEN, VOCABULARY, TOKENS, BATCH = 128, 512, 384, 6
INNER = 64, 768, 3072, 8192


def prepare(folder, mille):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copy(os.path.join(ROOT, "build", "lib", "libmille_loader.so.0"),
                os.path.join(folder, "libmille_loader.so"))
    for inner in INNER:
        spec = os.path.join(folder, f"{inner}.json")
        weights = os.path.join(folder, f"{inner}.safetensors")
        with open(spec, "w") as file:
            json.dump({"name": "m", "layers": 1, "hidden_size": HIDDEN,
                       "vocab_size": VOCABULARY,
                       "units": [{"name": "ffn", "branches": [
                           {"name": "ffn", "kind": "ffn", "intermediate_size": inner,
                            "act": "relu", "gated": "none",
                            "bias": {"in": False, "out": False}}]}]}, file)
        subprocess.run([mille, "init", spec, "-o", weights, "--scheme=xavier",
                        "--seed=1"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([mille, "compile", spec, "-o", os.path.join(folder, str(inner)),
                        "--name=model", "--target=cuda", "--weights=" + weights],
                       check=True, stdout=subprocess.DEVNULL)
        for ending in ".a", ".h", ".mlir":
            os.remove(os.path.join(folder, str(inner), "model" + ending))


def outs_of(package, ids, device):
    from package import Session
    values = {"input_ids": ids}
    sizes = package.sizes_of(values)
    session = Session(package, sizes, device)
    results = session.bind(values, sizes)
    session.run()
    out = next(iter(results.values())).reshape(-1, HIDDEN).copy()
    session.close()
    return out


def run(folder, device):
    import numpy
    from package import Package, read_tensors
    ids = numpy.random.default_rng(3).integers(0, VOCABULARY, (BATCH, TOKENS), "i4")
    same = True
    for inner in INNER:
        weights = read_tensors(os.path.join(folder, f"{inner}.safetensors"))
        package = Package(os.path.join(folder, "libmille_loader.so"),
                          os.path.join(folder, str(inner)))
        many = outs_of(package, ids, device)
        few = outs_of(package, ids[:1], device)
        package.close()

        def of(kind):
            x = weights["embed.weight"].astype(kind)[ids.reshape(-1)]
            hidden = numpy.maximum(
                x @ weights["layers.0.ffn.in.weight"].astype(kind).T, 0)
            out = weights["layers.0.ffn.out.weight"].astype(kind).T
            return x + hidden @ out, hidden @ abs(out)
        exact, sums = of("f8")
        words = []
        for who, got in ("device", many), ("numpy", of("f4")[0]):
            error = got - exact
            words.append(f"{who} {(abs(error) / (sums * 2.0 ** -24)).max():.2f} u, rms "
                         f"{(error ** 2).mean() ** 0.5 / (exact ** 2).mean() ** 0.5:.2e}")
        equal = numpy.array_equal(few, many[:TOKENS])
        same = same and equal
        print(f"K {inner}: {'; '.join(words)}; "
              f"{'the same bits' if equal else 'OTHER BITS'} among few rows", flush=True)
    return 0 if same else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("folder")
    parser.add_argument("--mille", default=os.path.join(ROOT, "build/bin/mille"))
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    if arguments.what == "prepare":
        prepare(arguments.folder, arguments.mille)
        return 0
    return run(arguments.folder, arguments.device)


if __name__ == "__main__":
    sys.exit(main())
