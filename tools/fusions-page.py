#!/usr/bin/env python3
"""fusions-page.py MILLE: prints docs/fusions.md, what is fused in the tested cases.

Compiles every model of `test/conformance` up to its kernels, counts the
boundaries that are fused and those that are declined, and fails where an
attention or a residual unit has no word on one. A test compares the page; after a
change:
  tools/fusions-page.py build/bin/mille > docs/fusions.md
"""
import collections
import re
import subprocess
import sys

from tested_cases import cases, print_table

BOUNDARIES = ["bias-activation", "qkv", "gate-up", "rope", "softmax-scale",
              "residual", "add-norm", "embed-norm"]
STATUSES = ["fused", "declined: law", "declined: missing"]
INTRO = """# Fusions

Written by `tools/fusions-page.py` from every model in `test/conformance`: how
often each boundary is fused, by unit and layer, and every reason why it is not.
`mille report` prints the same for one package, `--require-fused` makes a declined
boundary an error. "declined: law" means that the fused kernel would not compute what
is asked, "declined: missing" that no kernel of ours does it yet.

The price is the share of a run's time in the kernels that the fusion would take away,
on one core of a busy Zen 4, f32, 256 tokens of 1024 channels, by `mille bench --kernels`:
the most that it could gain there. On a GPU it is a launch each time besides. Where a dash is,
a law forbids the fusion.
"""
# By hand: OLMo 2, Bloom and MiniCPM3 of 4 layers, Mixtral of 2 with 8 experts, DeBERTa V2
# of 2, and Swin's last stage of 2.
PRICES = {
    "the last layer makes the sum, and not every layer begins with this norm":
        "0.003 % (OLMo 2; once a run)",
    "the layer before makes the sum, and not every layer begins with this norm":
        "0.01 % of a layer (OLMo 2's norm)",
    "the value is made outside the layer": "0.003 % (Bloom; once a run)",
    "a kernel stands between a projection and the attention":
        "0.03 % (MiniCPM3: the norms and rotations between)",
    "the norms are over all heads of query or key": "0.14 % (OLMo 2)",
    "the sum over experts gathers its rows, it has no epilogue": "0.003 % (Mixtral)",
    "another kernel than attention reads what is turned": "0.02 % (MiniCPM3)",
    "a projection has another reader":
        "0 (DeBERTa V2: two launches, no kernel; its products run at the peak)",
    "no matmul or row kernel makes a branch's value": "0.01 % (Swin)",
}
RECORD = re.compile(
    r'boundary = "([^"]*)", bytes_saved = \d+ : i64, launches_saved = \d+ : i64, '
    r'layers = "([^"]*)", reason = "([^"]*)", status = "([^"]*)"')


def stopped(model, stage):
    done = subprocess.run([sys.argv[1], "compile", model, "--stop-after=" + stage],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit("fusions-page: %s: %s" % (model, done.stderr))
    return done.stdout


def layers(ranges):
    """The number of layers in "0-3, 5"; a unit outside layers counts once."""
    count = 0
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        count += int(last or first) - int(first) + 1
    return count or 1


def check(case, counts, imported):
    """Checks that every attention and unit has the records that it must have."""
    attends = imported.count("transformer.attend ")
    linear = imported.count("transformer.linear_attend ")
    for boundary, most in [("softmax-scale", attends), ("qkv", attends + linear)]:
        if counts[boundary] != most:
            sys.exit("fusions-page: %s: %d records of %s, %d attentions" % (
                case, counts[boundary], boundary, most))
    if counts["residual"] < imported.count("transformer.residual "):
        sys.exit("fusions-page: %s: %d records of residual, %d units" % (
            case, counts["residual"], imported.count("transformer.residual ")))
    for boundary, op in [("rope", "rotate"), ("gate-up", "gate"),
                         ("bias-activation", "activate")]:
        if counts[boundary] == 0 and "transformer.%s " % op in imported:
            sys.exit("fusions-page: %s: no record of %s" % (case, boundary))


def main():
    totals, reasons = collections.Counter(), {}
    number = 0
    for number, (case, model) in enumerate(cases(), 1):
        counts = collections.Counter()
        for boundary, where, reason, status in RECORD.findall(stopped(model, "fuse")):
            counts[boundary] += layers(where)
            totals[boundary, status] += layers(where)
            if status != "fused":
                found = reasons.setdefault((boundary, status, reason), {})
                found[case] = found.get(case, 0) + layers(where)
        check(case, counts, stopped(model, "import"))
    print(INTRO)
    all_of = {status: sum(totals[b, status] for b in BOUNDARIES) for status in STATUSES}
    print("In %d cases: %s.\n" % (number, ", ".join(
        "%d %s" % (all_of[status], status) for status in STATUSES)))
    print_table(["boundary"] + STATUSES,
                [[b] + [totals[b, status] for status in STATUSES] for b in BOUNDARIES])
    print("\n## What is declined\n")
    print_table(["boundary", "status", "reason", "price", "how often", "cases"],
                [[*key, PRICES.get(key[2], "-"), sum(found.values()),
                  ", ".join("`%s`" % case for case in found)]
                 for key, found in sorted(reasons.items())])


main()
