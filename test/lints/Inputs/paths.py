# Every file and folder of the tree that a page names exists: what is in backticks
# and begins with a room (`test/runtime`, `compiler/json/*.cpp`), and what is linked.
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import files, read  # noqa: E402

root = sys.argv[1]
# The README says where things of your own go, by these names.
YOURS = {"compiler/fuse/FuseThing.cpp", "test/compiler/fuse/fuse-thing.mlir"}
ROOMS = "benchmarks|compiler|dialects|docs|examples|generation|loader|python|runtime|test|text|tools"

count = failures = 0
for page in files(root, (".md",)):
    text = read(page)
    named = [(root, re.split(r":\d", path)[0].rstrip(".,:"))
             for path in re.findall(r"`((?:%s)/[^`\s]*)" % ROOMS, text)]
    named += [(os.path.dirname(page), path)
              for path in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in path]
    for folder, path in named:
        count += 1
        if path not in YOURS and not glob.glob(os.path.join(folder, path)):
            failures += 1
            print(f"{os.path.relpath(page, root)}: there is no {path}")
print(f"{count} paths, {failures} failures")
sys.exit(failures != 0)
