# Every literal of every diagnostic appears in a test. A message is a statement
# that emits; its literals are what is between its quotes. What no test can bring about
# has a comment above it that says "No test has this:" and why; these are counted.
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import files, read  # noqa: E402

root = sys.argv[1]
rooms = [a for a in sys.argv[2:] if not a.startswith("-")]

emits = re.compile(
    r"(?<!\bVar )\b(?:emitError|emitOpError|emitWarning|emitRemark|attachNote|mismatch|no|"
    r"refuse|fail|errorAt|set|mille_task_fail|error|missing|wrong\w*|sayError)\(")
literal = re.compile(r'"((?:[^"\\]|\\.)*)"')

tests = []
for path in files(os.path.join(root, "test"),
                  (".mlir", ".test", ".c", ".cpp", ".h", ".py", ".expected")):
    if os.path.basename(path) not in ("messages.py", "labels.py", "rooms.py"):
        tests.append(re.sub(r'"\s*\n\s*"', "", read(path))) # neighbours are one text
expected = re.sub(r"\s+", " ", re.sub(r"\\(['\"])", r"\1", "\n".join(tests)))


conversion = re.compile(r"%[-+0 #]*[0-9.*]*(?:hh|h|ll|l|z|j|t)?"
                        r"(?:[diouxXeEfgGscp]|$)") # PRIx64 follows


def said(part):
    """Of a format the longest piece between conversions: no test has `%s`."""
    pieces = conversion.split(part.replace("\\n", " "))
    return re.sub(r"\s+", " ", max(pieces, key=len)).strip()


def statements(text):
    """Each emitting statement, from the call to its semicolon, and its line."""
    text = re.sub(r"//.*", "", text)
    for match in emits.finditer(text):
        i, inside = match.start(), False
        while i < len(text) and (inside or text[i] != ";"):
            if text[i] == '"' and text[i - 1] != "\\":
                inside = not inside
            i += 1
        yield text.count("\n", 0, match.start()) + 1, text[match.start():i]


messages, missing, excused = 0, [], 0
for room in rooms:
    for path in files(os.path.join(root, room), (".cpp", ".h")):
        lines = read(path).split("\n")
        for line, statement in statements("\n".join(lines)):
            joined = re.sub(r'"\s*\n\s*"', "", statement)
            parts = [re.sub(r'\\(["\\])', r"\1", p) for p in literal.findall(joined)]
            # Two letters together; shorter ones are punctuation.
            parts = [p for p in parts if re.search(r"[A-Za-z]{2}", p)]
            if not parts:
                continue
            messages += 1
            absent = [p for p in parts
                      if said(p) not in expected]
            above = "".join(lines[max(line - 3, 0):line - 1])
            if absent and "No test has this: " in above:
                excused += 1
            elif absent:
                missing.append(f"{os.path.relpath(path, root)}:{line}: {absent}")

if missing:
    print("\n".join(missing))
print(f"{messages} messages, {len(missing)} not expected by a test, "
      f"{excused} of what no test can bring about")
sys.exit(len(missing) > 0)
