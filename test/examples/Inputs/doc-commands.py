#!/usr/bin/env python3
"""doc-commands.py SOURCE PAGE FOLDER: runs the blocks of a page that say `sh`, each with
`sh -e`, one after the other in FOLDER; every other block is to be read. What they write
is written; a command that fails ends it.

doc-commands.py SOURCE --pages: names every page of the tree with such a block.
"""
import glob
import os
import subprocess
import sys

from page_blocks import blocks

source, page = sys.argv[1:3]
if page == "--pages":
    for path in sorted(glob.glob(os.path.join(source, "**/*.md"), recursive=True)):
        name = os.path.relpath(path, source)
        if not name.startswith(("build", "third_party")) and blocks(path, "sh"):
            print(name)
    sys.exit()
found = blocks(os.path.join(source, page), "sh")
if not found:
    sys.exit(f"{page} has no block of sh")
for block in found:
    if subprocess.run(["sh", "-e", "-c", block], cwd=sys.argv[3],
                      input=b"hello\n").returncode:
        sys.exit(f"{page}: a command of this block fails:\n{block}")
