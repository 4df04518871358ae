"""Checks of packages in bf16, in int8 and in blocks.

  narrow.py threads MILLE FOLDER INPUTS          FOLDER/bf16, FOLDER/int8 and so on
                                                 give the same bits on 1 and 3 threads
  narrow.py models MILLE TARGET FOLDER MODELS NAME[:TYPE]...   each compiles and
                                                 verifies, in bf16 and int8 or in TYPE
  narrow.py blocks MILLE TARGET FOLDER MODELS NAME[:TYPE]...   the same in blocks
"""
import os
import shutil
import subprocess
import sys

DTYPES = ("bf16", "int8", "q8_0", "q4_0")


def outputs(mille, package, inputs, threads):
    path = "%s.%d" % (package, threads)
    subprocess.run([mille, "run", package, "--inputs", inputs, "--outputs", path,
                    "--threads=%d" % threads], check=True)
    with open(path, "rb") as file:
        return file.read()


def threads(mille, folder, inputs):
    seen = {}
    for dtype in DTYPES:
        package = os.path.join(folder, dtype)
        seen[dtype] = outputs(mille, package, inputs, 1)
        if outputs(mille, package, inputs, 3) != seen[dtype]:
            sys.exit("%s: other bits on 3 threads" % dtype)
    if len(set(seen.values())) < len(seen):
        sys.exit("two types give the same bits")


def verify(dtypes, mille, target, folder, root, *names):
    for word in names:
        name, _, only = word.partition(":")
        for dtype in [only] if only else dtypes:
            package = os.path.join(folder, "model")
            subprocess.run([mille, "compile", os.path.join(root, name), "-o", package,
                            "--name=m", "--dtype=" + dtype, "--target=" + target],
                           check=True)
            subprocess.run([mille, "verify", package], check=True)
            shutil.rmtree(package)


def models(*words):
    verify(DTYPES[:2], *words)


def blocks(*words):
    verify(DTYPES[2:], *words)


{"threads": threads, "models": models, "blocks": blocks}[sys.argv[1]](*sys.argv[2:])
