#!/usr/bin/env python3
"""trained-page.py MILLE: prints docs/trained.md, which models of test/conformance train.

Those with an output `logits`, by what `mille compile --train` says of them up to the
program of fused kernels. A test compares the page; after a change:
  tools/trained-page.py build/bin/mille > docs/trained.md
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
CASES = os.path.join(ROOT, "test", "conformance")
INTRO = """# Which models train

Written by `tools/trained-page.py`: the models of `test/conformance` that have logits, by
what `mille compile --train` says of them. Encoders without logits train as soon as a spec
gives them a head. [training.md](training.md) says how gradients are tested.
"""


def reason(text):
    """The refusal without what differs from model to model."""
    found = re.search(r"error: (.*)", text)
    return re.sub(r"'([a-z_]+\.)([a-z_]+)' op", r"`\2`", found.group(1)) if found else text


def cases():
    for folder in (CASES, os.path.join(CASES, "native")):
        for case in sorted(os.listdir(folder)):
            for name in ("config.json", "spec.json"):
                path = os.path.join(folder, case, name)
                if os.path.exists(path):
                    yield (case, os.path.dirname(path)) if name == "config.json" else (
                        "native/" + case, path)


def main():
    trains, refused = [], {}
    for case, model in cases():
        ran = subprocess.run([sys.argv[1], "compile", model, "--train",
                              "--stop-after=fuse"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
        if ran.returncode == 0:
            trains.append(case)
        elif ran.returncode != 1:
            sys.exit(f"{case} ends with status {ran.returncode}: {ran.stderr}")
        elif "output 'logits'" not in ran.stderr:
            refused.setdefault(reason(ran.stderr), []).append(case)
    print(INTRO)
    print(f"## Those that do: {len(trains)}\n")
    print(", ".join(trains))
    print(f"\n## Those that do not: {sum(map(len, refused.values()))}\n")
    print("| why | models |\n|---|---|")
    for why, names in sorted(refused.items()):
        print(f"| {why} | {', '.join(names)} |")


main()
