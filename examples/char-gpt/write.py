"""Continues a text byte by byte: mille generate speaks of numbers, this of letters.

usage: write.py PACKAGE TEXT [COUNT]
"""
import subprocess
import sys

package, text, *count = sys.argv[1:]
ids = list(text.encode())
done = subprocess.run(
    ["mille", "generate", package, "--ids=" + ",".join(map(str, ids)),
     "--max-tokens=" + (count or ["50"])[0]],
    check=True, capture_output=True, text=True)
more = [int(word) for word in done.stdout.replace(",", " ").split()]
print(text + bytes(more).decode(errors="replace"))
