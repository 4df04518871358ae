# Loops over containers whose order is that of hashes or addresses: what they give
# would be another program in another process. One whose result has no order says so
# with the words `any order` in the comment before it.
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import files, read  # noqa: E402

root = sys.argv[1]
rooms = ["compiler", "dialects", "generation", "loader", "runtime", "text", "tools"]
inner = r"<(?:[^<>;]|<(?:[^<>;]|<[^<>;]*>)*>)*>"
declared = re.compile(
    r"\b(?:(?:Small)?Dense(?:Map|Set)|String(?:Map|Set)|SmallPtrSet|SmallSet|"
    r"unordered_(?:map|set))\s*(?:%s)?\s*[&*]?\s*(\w+)\s*[;={(,)]" % inner)
# Loops, and functions that keep an order: not all_of, count_if and the like.
loop = (r"\bfor \([^;]*? :\s*(?:this->)?(%s)\)|(?<![.>\w])(%s)\.begin\(\)|"
        r"\b(?:to_vector|map_range|transform|copy|copy_if|append_range|"
        r"make_\w+_range|concat)(?:<\w+>)?\(\s*(%s)\b")
loops = failures = 0


def excused(lines, number):
    """Whether a comment right before the line, or at its end, says `any order`."""
    said = lines[number] if "//" in lines[number] else ""
    while number and lines[number - 1].lstrip().startswith("//"):
        number -= 1
        said = lines[number].strip()[2:] + said
    return re.search(r"any\s+order", said)


for room in rooms:
    for path in files(os.path.join(root, room), (".cpp", ".h", ".c")):
        text = read(path)
        names = set(declared.findall(text))
        header = os.path.splitext(path)[0] + ".h"
        if header != path and os.path.exists(header):
            names |= set(declared.findall(read(header)))
        if not names:
            continue
        either = "|".join(sorted(names))
        lines = text.split("\n")
        for match in re.finditer(loop % (either, either, either), text):
            number = text.count("\n", 0, match.start())
            loops += 1
            if excused(lines, number):
                continue
            failures += 1
            name = next(group for group in match.groups() if group)
            print(f"{os.path.relpath(path, root)}:{number + 1}: the order of '{name}' "
                  "is that of hashes or addresses; say `any order` if it is none")

print(f"{loops} loops, {failures} failures")
sys.exit(1 if failures else 0)
