"""refused.py MILLE-OPT FOLDER ...: what is wrong is not only told, but refused.

An op, or a pass, may say its error and still succeed. Each file with pieces of which
errors are expected is read without that expectation, by the same passes: pieces with
errors must give no text, all others theirs.
"""
import glob
import os
import re
import shlex
import subprocess
import sys

program, folders = sys.argv[1], sys.argv[2:]
refused = wrong = 0
for path in sorted(path for folder in folders
                   for path in glob.glob(os.path.join(folder, "*", "*.mlir"))):
    with open(path) as file:
        text = file.read()
    line = re.search(r"RUN: %mille-opt %s (.*--verify-diagnostics.*)", text)
    words = shlex.split(line.group(1)) if line else []
    if "--split-input-file" not in words or "|" in words:
        continue
    words.remove("--verify-diagnostics")
    done = subprocess.run(program.split() + words + [path], capture_output=True, text=True)
    pieces = re.split(r"^// -----.*$", text, flags=re.M)
    taken = re.split(r"^// -----.*$", done.stdout, flags=re.M)
    if len(pieces) != len(taken):
        wrong += 1
        print("%s: %d pieces but %d answers" % (path, len(pieces), len(taken)))
        continue
    for number, (piece, answer) in enumerate(zip(pieces, taken), 1):
        is_bad = "expected-error" in piece
        refused += is_bad
        if is_bad == bool(answer.strip()):
            wrong += 1
            print("%s: piece %d is %s" % (path, number,
                                          "taken" if is_bad else "refused"))
print("%d pieces refused, %d wrong" % (refused, wrong))
sys.exit(wrong > 0)
