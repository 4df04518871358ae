# A class of a namespace has its name alone: two of one name in two rooms are one to the
# linker, which takes one's constructor, copy or destructor for both. The compiler sees
# one of them at a time, and says nothing.
import collections
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import files, read  # noqa: E402

root = sys.argv[1]
rooms = ["compiler", "dialects", "generation", "loader", "runtime", "text", "tools"]
silent = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|'
    r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE | re.DOTALL)
scope = re.compile(
    r"namespace\s*(?P<namespace>[\w:]*)\s*\{|"
    r"\b(?:struct|class|union|enum|enum class)\s+(?P<name>\w+)\s*(?:final\s*)?"
    r"(?::(?!:)[^;{()]*)?\{|[{}]")
places = collections.defaultdict(set)

for room in rooms:
    for path in files(os.path.join(root, room), (".cpp", ".h")):
        code = silent.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), read(path))
        around = []  # names; None: a function, or a namespace without a name
        for found in scope.finditer(code):
            if found.group() == "}":
                del around[-1:]
                continue
            name = found["namespace"] or found["name"]
            if found["name"] and around and None not in around:
                places["::".join(around + [name])].add(os.path.relpath(path, root))
            around.append(name or None)

failures = 0
for name, paths in sorted(places.items()):
    if len(paths) > 1:
        failures += 1
        print("%s is a name in %s" % (name, " and in ".join(sorted(paths))))
print("%d names, %d failures" % (len(places), failures))
sys.exit(failures > 0)
