# C++ that is not as .clang-format says, and lines of more than 80 columns.
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import files, read  # noqa: E402

root, formatter = sys.argv[1:]
paths = [path for path in files(root, (".cpp", ".h", ".c"))
         if not os.path.relpath(path, root).startswith(
             os.path.join("test", "conformance"))]
failures = 0

told = subprocess.run([formatter, "--dry-run", "--Werror", *paths],
                      capture_output=True, text=True).stderr
for line in sorted(set(re.findall(r"^(\S+?:\d+):\d+: error", told, re.M))):
    print(f"{os.path.relpath(line, root)}: not as {formatter} writes it")
    failures += 1

for path in paths:
    text = re.sub(r'R"(\w*)\((.*?)\)\1"',
                  lambda m: "\n" * m.group(0).count("\n"), read(path),
                  flags=re.S)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 80:
            print(f"{os.path.relpath(path, root)}:{number}: {len(line)} columns")
            failures += 1

print(f"{len(paths)} files, {failures} failures")
sys.exit(1 if failures else 0)
