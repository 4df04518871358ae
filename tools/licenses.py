#!/usr/bin/python3
"""licenses.py FILE [PROGRAM]: the licence texts of what Mille's tools carry.

FILE gets the texts of what is linked into them, and of Halide, which is installed
beside them. With PROGRAM, also those of every library that PROGRAM loads, which a
wheel holds; but for the C library, which every system has. The texts are those of
Debian's packages (/usr/share/doc) and of Halide's wheel. A text that is missing
is an error."""
import os
import re
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Linked: LLVM, the linker, JSON, the command line, text, memory; the page's charts.
PACKAGES = ["llvm-22-dev", "libmlir-22-dev", "liblld-22-dev", "libsimdjson-dev",
            "libcli11-dev", "libpcre2-dev", "libutf8proc-dev", "libjemalloc-dev",
            "libjs-chart.js"]
HALIDE = os.path.join(root, "third_party", "halide-21.0.0.dist-info", "licenses",
                      "LICENSE.txt")


def packages_of(program):
    """The packages whose libraries a program loads, and what no package has."""
    loaded = subprocess.run(["ldd", program], check=True, capture_output=True,
                            text=True).stdout
    found = []
    for path in re.findall(r"=> (/\S+)", loaded):
        for name in (path, os.path.realpath(path), path.removeprefix("/usr"),
                     "/usr" + path):
            owner = subprocess.run(["dpkg-query", "-S", name], capture_output=True,
                                   text=True)
            # It looks for the name anywhere in a path.
            exact = [line for line in owner.stdout.splitlines()
                     if line.endswith(f": {name}")]
            if exact:
                found.append(exact[0].split(":")[0])
                break
        else:
            if not path.endswith("/libHalide.so"):
                sys.exit(f"licenses: {path} is loaded but no package has it")
    return [name for name in found if name != "libc6"]


def text_of(package):
    path = f"/usr/share/doc/{package}/copyright"
    if not os.path.exists(path):
        sys.exit(f"licenses: {path} is missing, so {package} has no licence text")
    with open(path, encoding="utf-8") as file:
        return file.read()


output = sys.argv[1]
names = PACKAGES + (packages_of(sys.argv[2]) if len(sys.argv) > 2 else [])
texts = {}  # what it says -> who says it: LLVM's packages share one
for name in dict.fromkeys(names):
    texts.setdefault(text_of(name), []).append(name)
with open(HALIDE, encoding="utf-8") as file:
    texts[file.read()] = ["Halide 21.0.0"]
with open(output, "w", encoding="utf-8") as file:
    file.write("Mille's tools contain the software below, under these licences.\n")
    for text, owners in texts.items():
        title = ", ".join(owners)
        file.write(f"\n{'=' * 78}\n{title}\n{'=' * 78}\n\n{text.strip()}\n")
print(f"licenses: {sum(map(len, texts.values()))} texts in {output}")
