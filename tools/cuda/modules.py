#!/usr/bin/env python3
"""Takes the PTX out of packages, and assembles it where ptxas is given.

  modules.py PACKAGES OUT [--ptxas=PTXAS] [--arch=sm_90a] [--jobs=N]

PACKAGES is a package, or a folder of packages. Each distinct text becomes a file of OUT,
named by its hash. With ptxas each is assembled: a line for each that fails, spills or
has a C75xx warning. Ends with "N modules" or "N modules assembled, N failed".
"""
import argparse
import concurrent.futures
import glob
import hashlib
import os
import subprocess
import sys

BEGIN = b".version "


def texts_of(path):
    """The PTX in a library: from `.version` (and LLVM's comment before) to NUL."""
    with open(path, "rb") as file:
        data = file.read()
    at = data.find(BEGIN)
    while at >= 0:
        end = data.index(b"\0", at)
        text = data[at:end]
        if b".target " in text[:200]:
            yield text
        at = data.find(BEGIN, end)


def assemble(ptxas, arch, path):
    """What is wrong with a text, or ""."""
    # Halide's texts are for any device, the others say the one they are for.
    with open(path) as file:
        head = file.read(200)
    arch = arch if ".target sm_90a" in head else arch.rstrip("a")
    run = subprocess.run([ptxas, "-v", "-arch=" + arch, path, "-o", path + ".cubin"],
                         capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip()
    return "\n".join(line for line in run.stderr.splitlines()
                     if "C75" in line or
                     ("spill stores" in line and " 0 bytes spill stores" not in line))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages")
    parser.add_argument("out")
    parser.add_argument("--ptxas")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    paths = {}
    for library in sorted(glob.glob(options.packages + "/*.so") +
                          glob.glob(options.packages + "/*/*.so")):
        for text in texts_of(library):
            path = os.path.join(options.out,
                                hashlib.sha256(text).hexdigest()[:16] + ".ptx")
            if path not in paths:
                with open(path, "wb") as file:
                    file.write(text)
            paths[path] = library
    if not options.ptxas:
        print(len(paths), "modules")
        return 0 if paths else 1
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        problems = pool.map(
            lambda path: assemble(options.ptxas, options.arch, path), paths)
        for path, problem in zip(paths, problems):
            if problem:
                failed += 1
                print(f"{path} of {paths[path]}:\n  {problem}")
    print(f"{len(paths)} modules assembled, {failed} failed")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
