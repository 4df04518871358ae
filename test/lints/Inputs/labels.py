# For each `(Cn)` of each op and attribute in the .td files: a `// Cn` in its
# verifier or in what that calls, and a test function named for it.
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import blocks, files, read  # noqa: E402

root = sys.argv[1]
count = failures = 0


def fail(text):
    global failures
    failures += 1
    print(text)


def reachable(name, functions):
    """The text of a verifier and of all that it calls in the dialects."""
    text, seen, todo = "", set(), [name]
    while todo:
        name = todo.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        text += functions[name]
        todo += re.findall(r"(\w+)\s*(?:<\w+>)?\s*[({]", functions[name])
    return text


def definitions(text):
    """(C++ class, mnemonic, traits, labels) of each def with constraints."""
    for match in re.finditer(
            r"^def \w+?_(\w+) : (.*?)(?=^def |\Z)", text, re.M | re.S):
        labels = set()
        described = re.search(r"description = \[\{(.*?)\}\];", match.group(2), re.S)
        if not described:
            continue
        for line in described.group(1).split("\n"):
            if re.match(r"\s*\* \(C", line):
                head = re.match(r"\s*\* ((?:\(C\d+\)[ -]*)+)", line).group(1)
                numbers = [int(n) for n in re.findall(r"C(\d+)", head)]
                labels |= set(range(min(numbers), max(numbers) + 1))
        if labels:
            mnemonic = re.search(r'<(?:"\w+", )?"(\w+)"', match.group(2))
            yield match.group(1), mnemonic.group(1), match.group(2), labels


for dialect in ["transformer", "kernel"]:
    functions = {}
    for path in files(os.path.join(root, "dialects"), (".cpp",)):
        # Verifiers are one dialect's; what they call may be the other's.
        own = os.path.basename(os.path.dirname(path)) == dialect
        for name, text in blocks(read(path)).items():
            if "::" in name and not own and not name.startswith("mille"):
                continue
            parts = name.split("::")
            if parts[-1].startswith("verify") and len(parts) > 1 \
                    and parts[-2][0].isupper():
                name = parts[-2]
            else:
                name = parts[-1]
            functions[name] = functions.get(name, "") + "\n" + text
    for td in files(os.path.join(root, "dialects", dialect), (".td",)):
        for name, mnemonic, body, labels in definitions(read(td)):
            text = reachable(name, functions)
            if "LayerStack" in body:
                text += reachable("verifyLayerStack", functions)
            checked = {int(n) for n in re.findall(r"// C(\d+)\b", text)}
            tests = "".join(
                read(path) for path in sorted(glob.glob(os.path.join(
                    root, "test", "dialects", dialect, mnemonic + "*-errors.mlir"))))
            kind = "_attr" if name.endswith("Attr") else ""
            for label in sorted(labels):
                count += 1
                if label not in checked:
                    fail(f"{dialect}.{mnemonic}: (C{label}) is nowhere in the "
                         f"verifier of {name}")
                if not re.search(rf"\b{mnemonic}(?:{kind})?_c{label}(?!\d)", tests):
                    fail(f"{dialect}.{mnemonic}: (C{label}) has no test "
                         f"{mnemonic}_c{label}")

print(f"{count} constraints, {failures} failures")
sys.exit(1 if failures else 0)
