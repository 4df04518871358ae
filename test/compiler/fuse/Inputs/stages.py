#!/usr/bin/env python3
"""Runs every stage's IR in the interpreter and compares the outputs.

  stages.py MILLE MILLE_OPT FOLDER PLACEMENT ...

FOLDER holds `in`. Prints a line per placement; exit 1 where a stage differs.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "..", "..", "..")
sys.path.insert(0, os.path.join(root, "Inputs"))
import tensors

with open(tensors.TOLERANCES) as file:
    rows = json.load(file)["tolerances"]
bound = next(r["relative"] for r in rows if r["name"] == "kernel_stage")
mille, mille_opt, folder = sys.argv[1:4]


def run(name):
    model, out = f"{folder}/{name}.mlir", f"{folder}/{name}.out"
    subprocess.run([mille, "run", model, "--target=reference", "--inputs",
                    f"{folder}/in", "--outputs", out], check=True,
                   stdout=subprocess.DEVNULL)
    return tensors.load(out)


failed = False
for placement in sys.argv[4:]:
    with open(f"{folder}/model.mlir", "w") as file:
        subprocess.run([sys.executable, f"{here}/stack.py", placement, "3"],
                       stdout=file, check=True)
    results = {"model": run("model")}
    for name, passes in (("roll", ["--roll"]),
                         ("kernel", ["--roll", "--convert-to-kernel"]),
                         ("fused", ["--roll", "--fuse"])):
        subprocess.run([*mille_opt.split(), *passes, f"{folder}/model.mlir", "-o",
                        f"{folder}/{name}.mlir"], check=True)
        results[name] = run(name)
    words = []
    for name, other, limit in (("roll", "model", 0), ("kernel", "model", bound),
                               ("fused", "kernel", 0)):
        error = tensors.relative_error(results[name], results[other])
        good = error <= limit
        failed |= not good
        words.append(f"{name} " + (f"differs by {error:.2g}" if not good else
                                   f"within {limit:g}" if limit else "equal"))
    print(f"{placement}: {', '.join(words)}")
sys.exit(failed)
