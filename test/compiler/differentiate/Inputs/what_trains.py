#!/usr/bin/env python3
"""Which models of test/conformance train: what_trains.py MILLE CONFORMANCE.

Those with an output `logits`, by what `mille compile --train` says of them, as the table
of docs/training.md. Standard library only."""
import os
import re
import subprocess
import sys


def reason(text):
    """The refusal without what differs from model to model."""
    found = re.search(r"error: (.*)", text)
    return re.sub(r"'([a-z_]+\.)([a-z_]+)' op", r"`\2`", found.group(1)) if found else text


def main(arguments):
    mille, root = arguments
    trains, refused = [], {}
    for case in sorted(os.listdir(root)):
        folder = os.path.join(root, case)
        if not os.path.exists(os.path.join(folder, "config.json")):
            continue
        ran = subprocess.run([mille, "compile", folder, "--train", "--stop-after=fuse"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True)
        if ran.returncode == 0:
            trains.append(case)
        elif ran.returncode != 1:
            print(f"{case} ends with status {ran.returncode}: {ran.stderr}")
            return 1
        elif "output 'logits'" not in ran.stderr:
            refused.setdefault(reason(ran.stderr), []).append(case)
    print(f"trains ({len(trains)}): {', '.join(trains)}")
    for why, cases in sorted(refused.items()):
        print(f"{why}: {', '.join(cases)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
