# Every literal of every diagnostic appears in a test. A message is a statement
# that emits; its literals are what is between its quotes.
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import files, read  # noqa: E402

root = sys.argv[1]
rooms = [a for a in sys.argv[2:] if not a.startswith("-")]
# How many may be missing so far: a number that only gets smaller.
allowed = next((int(a[7:]) for a in sys.argv if a.startswith("--most=")), 0)

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
    """Each emitting statement, from the call to its semicolon."""
    text = re.sub(r"//.*", "", text)
    for match in emits.finditer(text):
        i, inside = match.start(), False
        while i < len(text) and (inside or text[i] != ";"):
            if text[i] == '"' and text[i - 1] != "\\":
                inside = not inside
            i += 1
        yield text.count("\n", 0, match.start()) + 1, text[match.start():i]


messages, missing = 0, []
for room in rooms:
    for path in files(os.path.join(root, room), (".cpp", ".h")):
        for line, statement in statements(read(path)):
            joined = re.sub(r'"\s*\n\s*"', "", statement)
            parts = [re.sub(r'\\(["\\])', r"\1", p) for p in literal.findall(joined)]
            # Two letters together; shorter ones are punctuation.
            parts = [p for p in parts if re.search(r"[A-Za-z]{2}", p)]
            if not parts:
                continue
            messages += 1
            absent = [p for p in parts
                      if said(p) not in expected]
            if absent:
                missing.append(f"{os.path.relpath(path, root)}:{line}: {absent}")

if len(missing) > allowed or "--list" in sys.argv:
    print("\n".join(missing))
print(f"{messages} messages, {len(missing)} not expected by a test")
if len(missing) < allowed:
    print(f"lower --most, which is {allowed}")
sys.exit(len(missing) != allowed)
