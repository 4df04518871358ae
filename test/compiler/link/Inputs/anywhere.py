#!/usr/bin/env python3
"""anywhere.py MILLE MODEL TARGET FOLDER: 20 compiles of a model in other places, each
with the same bytes.

They differ in locale, time zone, TMPDIR, working folder, the path of the output, jobs,
environment and umask, and one has an empty cache of kernels. The system places stacks
and heaps elsewhere each time, too.
"""
import hashlib
import os
import shutil
import subprocess
import sys

mille, model, target, folder = sys.argv[1:]
locales = ["C", "C.UTF-8", "POSIX", "en_US.UTF-8", "tr_TR.UTF-8"]
zones = ["UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati"]


def files(package):
    """Hashes of a package's files, by name."""
    found = {}
    for name in sorted(os.listdir(package)):
        with open(os.path.join(package, name), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def compiled(number):
    here = os.path.join(folder, "place%d" % number, "x" * (1 + number * 7 % 40))
    shutil.rmtree(os.path.dirname(here), ignore_errors=True)
    os.makedirs(os.path.join(here, "tmp"))
    environment = dict(os.environ, LC_ALL=locales[number % 5],
                       LANG=locales[(number + 1) % 5], TZ=zones[number % 4],
                       TMPDIR=os.path.join(here, "tmp"), HOME=here,
                       FILLING="y" * (number * 997 % 4096))
    if number == 7:
        environment["XDG_CACHE_HOME"] = os.path.join(here, "cache")
    output = "out" if number % 2 else os.path.join(here, "out")
    subprocess.run([mille, "compile", model, "--name=m", f"--target={target}",
                    f"--jobs={1 + number % 3}", "-o", output], env=environment,
                   cwd=here, umask=(0o022, 0o077)[number % 2], check=True)
    return files(os.path.join(here, "out"))


first = compiled(0)
assert len(first) >= 6, first
for number in range(1, 20):
    other = compiled(number)
    for name in sorted(first.keys() | other.keys()):
        if first.get(name) != other.get(name):
            sys.exit(f"compile {number}: {name} has other bytes than in compile 0")
print(f"20 of 20 compiles give the same bytes in {len(first)} files")
