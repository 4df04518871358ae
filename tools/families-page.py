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

from tested_cases import TESTS, cases, print_table

COLUMNS = ["family", "placement", "scales", "attention", "positions",
           "feed-forward", "norms", "tested case"]
INTRO = """# Families

Written by `tools/families-page.py` from `mille inspect --json` of every model in
`test/conformance`, whose answers come from an independent implementation. The test of
a case fails unless `mille run --target=reference` agrees in double, and the compiled
package within the case's tolerance in f32, with the same bits on 1 and 3 threads.
Several values in a row are what different units or layers have.
"""


def inspect(model):
    done = subprocess.run([sys.argv[1], "inspect", "--json", model],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit("families-page: %s: %s" % (model, done.stderr))
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
    words, formula = text.split(": x' = ")
    branches = formula.count("F")
    return words + (", %d branches" % branches if branches > 1 else "")


def tables(model):
    """The kind of positions, by the embedding ops."""
    found = []
    for name in model["tables"]:
        word = ("a table" if name.endswith("position.weight") else
                "a vector for each patch" if name.endswith("tokens.weight") else "")
        if word and word not in found:
            found.append(word)
    return found


def tested_as(case, word):
    """Whether the case's own lit.local.cfg limits its test by this word."""
    own = os.path.join(TESTS, case, "lit.local.cfg")
    return os.path.exists(own) and word in open(own).read()


def row(case, model):
    placements = []
    for text in facts_of(model, "placement"):
        if short_placement(text) not in placements:
            placements.append(short_placement(text))
    scales = facts_of(model, "skip scale", "branch scale", "stream scale")
    attention = facts_of(model, "attention")
    masks = [text for text in facts_of(model, "mask") if text != "none"]
    experts = ["experts: " + text for text in facts_of(model, "experts")]
    norms = facts_of(model, "input norm", "branch norm", "output norm",
                     "inner norm")
    return [model.get("family", ""), "; ".join(placements),
            "; ".join(scales) or "-",
            "; ".join(attention + masks) or "-",
            "; ".join(tables(model) + facts_of(model, "positions")) or "none",
            "; ".join(facts_of(model, "feed-forward") + experts) or "-",
            "; ".join(norms) or "-", "`%s`" % case]


def main():
    rows = sorted((row(case, inspect(model)) for case, model in cases()),
                  key=lambda entry: (entry[0] == "native", entry[0], entry[-1]))
    print(INTRO)
    families = {entry[0] for entry in rows} - {"native"}
    print("%d families, and native specs, in %d cases.\n" % (len(families),
                                                            len(rows)))
    for word, said in (("rounded_answers", "Answers that were computed from numbers "
                        "rounded to f32, and are compared as such"),
                       ("reference_only", "Not compiled")):
        limited = ["`%s`" % case for case, _ in cases() if tested_as(case, word)]
        if limited:
            print("%s:\n%s.\n" % (said, ", ".join(limited)))
    print_table(COLUMNS, [[text.replace("|", "\\|") for text in entry]
                          for entry in rows])


main()
