# House rules that a machine can see: names, lengths, heads, words.
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import files, read  # noqa: E402

root = sys.argv[1]
forbidden = {"util", "utils", "utility", "utilities", "common", "helper",
             "helpers", "misc", "base", "core"}
longest = 500
count = failures = 0


def fail(path, text):
    global failures
    failures += 1
    print(f"{path}: {text}")


def words(name):
    name = re.sub(r"([a-z])([A-Z])", r"\1-\2", name)
    return set(re.split(r"[-_.]", name.lower()))


for path in files(root, (".cpp", ".h", ".c", ".td", ".def", ".mlir", ".test",
                         ".py", ".sh", ".cmake", "CMakeLists.txt", ".md", ".in")):
    shown = os.path.relpath(path, root)
    count += 1
    for part in shown.split(os.sep):
        if words(part) & forbidden:
            fail(shown, f"'{part}' says nothing: name the thing")
    text = read(path)
    lines = text.count("\n")
    code = path.endswith((".cpp", ".h", ".c", ".td", ".def", ".py"))
    if code and lines > longest:
        fail(shown, f"has {lines} lines but a file has at most {longest}")
    if path.endswith((".cpp", ".h", ".c", ".td", ".def")) and \
            not text.startswith(("//", "/*")):
        fail(shown, "does not start with what it does")
    # Only the command's own crash handler may end the process.
    if shown.startswith(("dialects", "compiler", "runtime")) and \
            shown != os.path.join("compiler", "driver", "Reproducer.cpp") and \
            re.search(r"\b(?:abort|exit)\s*\(\s*-?\d*\s*\)",
                      re.sub(r"//.*", "", text)):
        fail(shown, "ends the process")
    # Who makes kernels is named once, but for what emulates Hopper's.
    if shown.startswith(("compiler", "tools")) and \
            shown != os.path.join("compiler", "driver", "Generators.cpp") and \
            not shown.startswith(os.path.join("compiler", "driver", "emulate")) and \
            any(f'#include "compiler/{room}/' in text and
                not shown.startswith(os.path.join("compiler", room))
                for room in ("halide", "nvvm")):
        fail(shown, "includes a generator: compiler/driver/Generators.h asks it")
    if re.search(r"(?<![\w.$}/])/(?:work|home|root)/\w", text) and \
            not shown.startswith(os.path.join("test", "lints")):
        fail(shown, "names a folder of one machine")

# What bin/mille is made of runs packages: of rooms that compile it sees data, and of
# MLIR places and messages.
seen = ("compiler/Status.h", "compiler/driver/", "compiler/json/", "compiler/text/",
        "compiler/weights/", "compiler/import/ImageSize.h",
        "compiler/interpret/Interpret.h", "compiler/interpret/TensorFiles.h",
        "compiler/kernels/KernelInfo.h", "compiler/kernels/Targets.h",
        "dialects/kernel/Signature.h", "dialects/transformer/Dtype.h",
        "dialects/transformer/Shape.h", "dialects/transformer/Training.h",
        "generation/", "loader/", "runtime/", "text/",
        "mlir/IR/BuiltinAttributes.h", "mlir/IR/Diagnostics.h",
        "mlir/IR/MLIRContext.h")
driver = os.path.join(root, "compiler", "driver")
libraries = dict(re.findall(r"mille_library\((\w+)([^)]*)\)",
                            read(os.path.join(driver, "CMakeLists.txt"))))
thin = re.findall(r"[\w/]+\.cpp", libraries["command"] + libraries["handover"])
for source in thin:
    path = os.path.join(driver, source)
    for name in re.findall(r'#include "((?:compiler|dialects|mlir|generation|loader|'
                           r'runtime|text)/[^"]+)"', read(path)):
        if not name.startswith(seen):
            fail(os.path.relpath(path, root), f"is in bin/mille but includes {name}")

print(f"{count} files, {failures} failures")
sys.exit(1 if failures else 0)
