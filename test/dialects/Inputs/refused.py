"""refused.py MILLE-OPT FOLDER: what is wrong is not only told, but refused.

An op may say its error and still be taken for right. Each file with pieces of which errors
are expected is read without that expectation: pieces with errors must give no text, all
others theirs.
"""
import glob
import os
import re
import subprocess
import sys

program, folder = sys.argv[1:]
refused = wrong = 0
for path in sorted(glob.glob(os.path.join(folder, "*", "*.mlir"))):
    with open(path) as file:
        text = file.read()
    if "--split-input-file --verify-diagnostics" not in text:
        continue
    done = subprocess.run(program.split() + ["--split-input-file", path],
                          capture_output=True, text=True)
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
