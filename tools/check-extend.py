#!/usr/bin/env python3
"""The entry `extend` of every decoder of test/conformance: a table in Markdown of how
far its rows are from the reference's forward, after it was seen that four ways of
pieces give the same bits as one. Longer than the gate may take: test/tools/extend.test
has a few. Exit status 0 when none failed.

  check-extend.py [--dtype=f32,bf16,int8,reference] [--cache=int8] [--threads=1,3]
                  MILLE [PART...]
"""
import argparse
import os
import subprocess
import sys
import tempfile

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(TOOLS, os.pardir, "test", "tools", "Inputs"))
sys.dont_write_bytecode = True
import extend  # noqa: E402
from tested_cases import TESTS, cases, print_table  # noqa: E402

# Their rotations depend on the number of tokens of a run, so a cut changes them.
ONLY_WHOLE = ["llama_dynamic_ntk", "phi3_longrope_long"]


def why_not(mille, model):
    """The reason why a model has no `extend`; empty if it has one."""
    ran = subprocess.run([mille, "compile", model, "--entries=extend",
                          "--stop-after=import"], capture_output=True, text=True)
    if not ran.returncode:
        return ""
    first = ran.stderr.split("\n")[0]
    return first.split("the model has none: ")[-1].split("error: ")[-1]


def cell(mille, name, dtype, threads, cache):
    reference = dtype == "reference"
    with tempfile.TemporaryDirectory() as work:
        try:
            rows, worst = extend.check(
                mille, os.path.join(TESTS, name), work, "f32" if reference else dtype,
                "reference" if reference else "host", threads, name in ONLY_WHOLE,
                "" if reference else cache)
        except extend.Failed as failure:
            return "FAILED: " + str(failure)
    return f"{worst:.0e}" + (" in one piece" if name in ONLY_WHOLE else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", default="reference,f32,bf16,int8")
    parser.add_argument("--threads", default="1,3")
    parser.add_argument("--cache", default="")
    parser.add_argument("mille")
    parser.add_argument("parts", nargs="*")
    wanted = parser.parse_args()
    dtypes = wanted.dtype.split(",")
    threads = [int(count) for count in wanted.threads.split(",")]
    table, refused, failed = [], {}, 0
    for name, model in cases():
        if wanted.parts and not any(part in name for part in wanted.parts):
            continue
        if why := why_not(wanted.mille, model):
            refused.setdefault(why, []).append(name)
            continue
        row = [cell(wanted.mille, name, dtype, threads, wanted.cache)
               for dtype in dtypes]
        failed += sum(text.startswith("FAILED") for text in row)
        table.append([f"`{name}`", *row])
        print(name, *row, file=sys.stderr, flush=True)
    print_table(["case", *dtypes], table)
    print()
    for why, names in refused.items():
        print(f"* {why}: " + ", ".join(f"`{name}`" for name in names))
    print(f"\n{len(table)} cases, {failed} failures")
    sys.exit(failed > 0)


main()
