# Reading C++ by layout, for the lints: functions start and end in column 0.
import os
import re


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files(root, suffixes):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            f for f in folders
            if not f.startswith(".") and f != "third_party"
            and not f.startswith("build"))
        for name in sorted(names):
            if name.endswith(suffixes):
                yield os.path.join(folder, name)


def blocks(text):
    """Top-level definitions: name -> text, several of a name joined."""
    found = {}
    lines = text.split("\n")
    start = None
    for i, line in enumerate(lines):
        if start is None:
            if (line and not line[0].isspace() and line[0] not in "}/#"
                    and not line.startswith(("using ", "namespace"))):
                start = i
        whole = i == start and line.endswith("}")  # on one line
        if start is not None and (whole or line.startswith("}")):
            body = "\n".join(lines[start:i + 1])
            head = body.split("{")[0]
            name = (re.search(r"(?:class|struct)\s+(\w+)", head)
                    or re.search(r"([\w:]+)\s*\(", head))
            if name:
                key = name.group(1)
                found[key] = found.get(key, "") + "\n" + body
            start = None
        elif start is not None and line.endswith(";") and i == start:
            start = None
    return found
