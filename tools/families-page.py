#!/usr/bin/env python3
"""families-page.py MILLE: prints docs/families.md, read off the tested cases.

Every folder of test/conformance is a model with answers that `check` compares;
what it is comes from `mille inspect --json`. A test compares the page; after a
change:
  tools/families-page.py build/bin/mille > docs/families.md
"""
import json
import os
import subprocess
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                     "test", "conformance")
COLUMNS = ["family", "placement", "scales", "attention", "positions",
           "feed-forward", "tested case"]
INTRO = """# Families

Written by `tools/families-page.py` from `mille inspect --json` of every model in
`test/conformance`, whose answers come from an independent implementation. Status
of all rows: `mille run --target=reference` agrees in double, and the compiled
package within the case's tolerance in f32, the same bits on 1 and 3 threads,
but for the cases that `test/conformance/lit.local.cfg` names with a reason.
Several values in a row are what different units or layers have.
"""


def cases():
    for root, folders, files in sorted(os.walk(TESTS)):
        folders.sort()
        if "case.json" in files:
            yield os.path.relpath(root, TESTS), root


def inspect(folder):
    spec = os.path.join(folder, "spec.json")
    model = spec if os.path.exists(spec) else folder
    done = subprocess.run([sys.argv[1], "inspect", "--json", model],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit("families-page: %s: %s" % (folder, done.stderr))
    return json.loads(done.stdout)


def facts_of(model, *names):
    """The values of these facts over all units, each once, in order."""
    found = []
    for stack in model["stacks"]:
        for place in stack:
            for kind in place:
                for key, value in kind.items():
                    name = key.split(": ")[-1]  # "1: attention" of branch 1
                    if name in names and value not in found:
                        found.append(value)
    return found


def short_placement(text):
    return text.split(": x' = ")[0]


def row(case, model):
    placements = []
    for text in facts_of(model, "placement"):
        if short_placement(text) not in placements:
            placements.append(short_placement(text))
    scales = facts_of(model, "skip scale", "branch scale", "stream scale")
    attention = facts_of(model, "attention")
    masks = [text for text in facts_of(model, "mask") if text != "none"]
    experts = ["experts: " + text for text in facts_of(model, "experts")]
    return [model.get("family", ""), "; ".join(placements),
            "; ".join(scales) or "-",
            "; ".join(attention + masks) or "-",
            "; ".join(facts_of(model, "positions")) or "learned or none",
            "; ".join(facts_of(model, "feed-forward") + experts) or "-",
            "`%s`" % case]


def main():
    rows = sorted((row(case, inspect(folder)) for case, folder in cases()),
                  key=lambda entry: (entry[0] == "native", entry[0], entry[-1]))
    print(INTRO)
    print("%d families and native specs in %d cases.\n" % (
        len({entry[0] for entry in rows}), len(rows)))
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    for entry in rows:
        print("| " + " | ".join(text.replace("|", "\\|") for text in entry) + " |")


main()
