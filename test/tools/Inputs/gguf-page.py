"""What Mille says that it reads of GGUF, against docs/gguf.md.

  gguf-page.py MILLE SOURCE SCRATCH
"""
import os
import re
import subprocess
import sys

mille, source, scratch = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "test", "Inputs"))
import gguf  # noqa: E402


def listed(data, before):
    """The words that an error about this file lists."""
    os.makedirs(scratch, exist_ok=True)
    path = os.path.join(scratch, "model.gguf")
    with open(path, "wb") as file:
        file.write(data)
    told = subprocess.run([mille, "compile", path, "--stop-after=import"],
                          capture_output=True, text=True).stderr
    return re.search(before + r" ([\w, -]+)", told).group(1).split(", ")


architectures = listed(gguf.file({"general.architecture": "none"}, {}),
                       "but Mille knows")
types = listed(gguf.file({}, {"w": (99, [1], b"\0" * 4)}), "but Mille reads")
with open(os.path.join(source, "docs", "gguf.md")) as file:
    page = file.read()
missing = [word for word in architectures + types if f"`{word}`" not in page]
for word in missing:
    print(f"docs/gguf.md has no `{word}`")
print(f"{len(architectures)} architectures, {len(types)} types, "
      f"{len(missing)} missing")
sys.exit(1 if missing else 0)
