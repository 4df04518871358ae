#!/usr/bin/env python3
"""Mille beside its peers on this machine: the same weights, the same ids, in
interleaved rounds.

  compare.py [WORKLOAD ...] [OPTIONS]      bert minilm deep padded disturbed opencl
                                           cold compile kernels

Each peer is a process of its own, pinned to the same cores, and stands still while
another has its turn. Outputs are compared before anything is timed. A figure is the
median over all runs, with quartiles; a ratio is taken round by round; the share of
the peak is of operations in registers of the same type, measured by
`mille devices --measure` in the same rounds. What a peer cannot do is said.

Results are kept in FOLDER/results; page.py makes the page of all of them.
benchmarks/README.md says how to get the peers. Status 1: Mille's outputs
differ, or a workload could not be measured.
"""
import argparse
import datetime
import json
import os
import platform
import sys

import cases
import rounds
import tables
import workloads

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)


def told(words):
    """The command for the results page: without where this machine keeps files."""
    kept, skip = ["benchmarks/compare.py"], False
    for word in words:
        if not skip and word not in ("--work", "--mille") and \
                not word.startswith(("--work=", "--mille=")):
            kept.append(word)
        skip = word in ("--work", "--mille")
    return " ".join(kept)


def words(choices):
    """The type of an option that is a list with commas."""
    def split(text):
        given = text.split(",")
        for word in given:
            if choices and word not in choices:
                raise argparse.ArgumentTypeError("%s is none of %s" % (
                    word, ", ".join(choices)))
        return given
    return split


def numbers(text):
    return [int(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("workloads", nargs="*", metavar="WORKLOAD", help="default: all")
    add("--mille", default=os.path.join(TOP, "build", "bin", "mille"))
    add("--work", default=os.path.join(TOP, "build", "benchmarks"),
        help="folder for models, compiled forms, logs and results")
    add("--peers", type=words([name.lower().replace(" ", "-")
                               for name in cases.PEERS]),
        help="default: all, %s" % ",".join(
            name.lower().replace(" ", "-") for name in cases.PEERS))
    add("--dtypes", type=words(["f32", "bf16", "int8"]),
        default=["f32", "bf16", "int8"])
    add("--tokens", type=numbers, help="default: the workload's")
    add("--threads", type=numbers, help="default: the workload's")
    add("--layers", type=numbers, default=[12, 100, 1000], help="of deep")
    add("--model", help="a folder of BERT's shape in place of the workload's")
    add("--kernels", help="of kernels: a regular expression for their names")
    add("--rounds", type=int, default=5)
    add("--seconds", type=float, default=0.2, help="of a turn")
    options = parser.parse_args()
    for word in options.workloads:
        if word not in workloads.ALL:
            parser.error("%s is none of %s" % (word, ", ".join(workloads.ALL)))
    options.work = os.path.abspath(options.work)
    options.peers = [name for name in cases.PEERS if not options.peers
                     or name.lower().replace(" ", "-") in options.peers]
    return options


def main():
    options = parse()
    bench = cases.Bench(options)
    bench.versions["mille"] = bench.mille("--version").split("\n")[0]
    folder = os.path.join(options.work, "results")
    os.makedirs(folder, exist_ok=True)
    wrong = []
    try:
        for name in options.workloads or workloads.ALL:
            try:
                result = workloads.ALL[name](bench)
            except rounds.Refused as reason:
                print("%s: not available: %s" % (name, reason), file=sys.stderr)
                wrong.append(name + " was not measured")
                continue
            result.update(
                date=datetime.date.today().isoformat(), versions=bench.versions,
                python=platform.python_version(), machine=bench.ceilings(1),
                command=told(sys.argv[1:]))
            with open(os.path.join(folder, name + ".json"), "w") as file:
                json.dump(result, file)
            for table in result["tables"]:
                print("\n".join(tables.lines(table)))
                wrong += ["mille's output differs: " + table["title"]
                          for row in table.get("rows", [])
                          if row["name"] == "mille" and not row.get("agrees", True)]
    finally:
        bench.workers.close()
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
