#!/usr/bin/env python3
"""readme-blocks.py README FOLDER: the first Python and C program of a README, as
main.py and main.c, and main.sh: the commands beside the C program in their order,
that which compiles the model and those after a `$`."""
import os
import re
import sys

readme, folder = sys.argv[1:]
with open(readme, encoding="utf-8") as file:
    text = file.read()


def block(kind):
    found = re.search(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S)
    if not found:
        sys.exit(f"{readme} has no block of {kind}")
    return found


python, c = block("python"), block("c")
compiles = re.findall(r"`(mille compile [^`]+)`", text[:c.start()])
runs = re.findall(r"^\$ (.+)$", text[c.end():text.index("```\n", c.end() + 5)],
                  re.M)
if not compiles or not runs:
    sys.exit(f"{readme} has no command beside its C program")
for name, content in (("main.py", python[1]), ("main.c", c[1]),
                      ("main.sh", "\n".join([compiles[-1], *runs, ""]))):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(content)
