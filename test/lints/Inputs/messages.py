# Every literal of every diagnostic appears in a test. A message is a statement
# that emits; its literals are what is between its quotes.
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import files, read  # noqa: E402

root = sys.argv[1]
rooms = [a for a in sys.argv[2:] if not a.startswith("-")]
only_count = "--count" in sys.argv

emits = re.compile(
    r"\b(?:emitError|emitOpError|emitWarning|emitRemark|attachNote|mismatch|no|"
    r"refuse|fail|errorAt)\(")
literal = re.compile(r'"((?:[^"\\]|\\.)*)"')

tests = []
for path in files(os.path.join(root, "test"),
                  (".mlir", ".test", ".c", ".cpp", ".h", ".py", ".expected")):
    if os.path.basename(path) not in ("messages.py", "labels.py", "rooms.py"):
        tests.append(read(path))
expected = re.sub(r"\s+", " ", "\n".join(tests)).replace("\\'", "'")


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
            parts = [p.replace('\\"', '"') for p in literal.findall(joined)]
            # Two letters together; shorter ones are punctuation.
            parts = [p for p in parts if re.search(r"[A-Za-z]{2}", p)]
            if not parts:
                continue
            messages += 1
            absent = [p for p in parts
                      if re.sub(r"\s+", " ", p).strip() not in expected]
            if absent:
                missing.append(f"{os.path.relpath(path, root)}:{line}: {absent}")

if "--list" in sys.argv or not only_count:
    print("\n".join(missing))
print(f"{messages} messages, {len(missing)} not expected by a test")
sys.exit(1 if missing and not only_count else 0)
