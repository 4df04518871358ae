#!/usr/bin/env python3
"""doc-commands.py SOURCE PAGE FOLDER: runs the blocks of a page that say `sh`, each with
`sh -e`, one after the other in FOLDER; every other block is to be read. What they write
is written; a command that fails ends it.

doc-commands.py SOURCE --pages: names every page of the tree with such a block.
"""
import glob
import os
import re
import subprocess
import sys


def blocks(path):
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^```sh\n(.*?)^```$", file.read(), re.M | re.S)


source, page = sys.argv[1:3]
if page == "--pages":
    for path in sorted(glob.glob(os.path.join(source, "**/*.md"), recursive=True)):
        name = os.path.relpath(path, source)
        if not name.startswith(("build", "third_party")) and blocks(path):
            print(name)
    sys.exit()
found = blocks(os.path.join(source, page))
if not found:
    sys.exit(f"{page} has no block of sh")
for block in found:
    if subprocess.run(["sh", "-e", "-c", block], cwd=sys.argv[3],
                      input=b"hello\n").returncode:
        sys.exit(f"{page}: a command of this block fails:\n{block}")
