#!/usr/bin/env python3
"""The results page and its drawings from the results that compare.py left.

  page.py docs/benchmarks.md [--work FOLDER]

Drawings lie beside the page, benchmarks-WORKLOAD.svg. Must not measure.
"""
import argparse
import json
import os
import sys

import chart
import tables
import workloads

HERE = os.path.dirname(os.path.abspath(__file__))


def read(work):
    """workload -> its result, in the order of the workloads."""
    results = {}
    for name in workloads.ALL:
        path = os.path.join(work, "results", name + ".json")
        if os.path.exists(path):
            with open(path) as file:
                results[name] = json.load(file)
    return results


def trips_of(results):
    """Core to core and back, in all tables of more than one thread. The two cores
    of a virtual machine may be near each other or far, and move."""
    trips = [table["round_trip_ns"] for result in results.values()
             for table in result["tables"] if table.get("threads", 1) > 1]
    trips = [trip for trip in trips if trip] or [
        result["machine"]["round_trip_ns"] for result in results.values()
        if result["machine"]["round_trip_ns"]]
    if not trips:
        return "one"
    words = ["near" if trip < 300 else "far" for trip in (min(trips), max(trips))]
    return "%.0f to %.0f ns from one to another and back: %s" % (
        min(trips), max(trips), " to ".join(sorted(set(words), reverse=True)))


def refused(result):
    """A line for each peer that could not be measured, with the reason."""
    reasons = {}
    for table in result["tables"]:
        for entry in tables.refusals(table):
            types = reasons.setdefault((entry["name"], entry["refused"]), [])
            if table.get("dtype", "f32") not in types:
                types.append(table.get("dtype", "f32"))
    lines = ["* %s, %s: %s" % (name, " and ".join(types), reason)
             for (name, reason), types in reasons.items()]
    return ["Not available:", ""] + lines + [""] if lines else []


def otherwise(result):
    """A line for each peer that computes otherwise than the model says."""
    lines = sorted({"* %s: %s" % (entry["name"], entry["differs_in"])
                    for table in result["tables"]
                    for entry in tables.departures(table)})
    return ["Otherwise than the model says:", ""] + lines + [""] if lines else []


def facts(results):
    versions = {}
    for result in results.values():
        versions.update(result["versions"])
        versions["Python"], machine = result["python"], result["machine"]
    peaks = ", ".join("%s %.0f" % (dtype, peak) for dtype, peak in
                      machine["peak_gflops"].items() if peak)
    dates = sorted({result["date"] for result in results.values()})
    lines = ["* Date: " + " to ".join(dates[:1] + dates[1:][-1:]),
             "* Machine: %s (%s), %d cores, %.0f GB" % (
                 machine["cpu"], machine["processor"], machine["cores"],
                 machine["memory_bytes"] / 2 ** 30),
             "* One core at the end: %s GFLOP/s in registers; %.0f GB/s from memory"
             % (peaks, machine["read_gb_per_s"] or 0),
             "* Cores: " + trips_of(results)]
    lines.append("* Versions: " + ", ".join(
        "%s %s" % (name, version.replace("mille ", "")) for name, version in
        versions.items()))
    commands = []
    for result in results.values():
        if result["command"] not in commands:
            commands.append(result["command"])
    return lines + ["* Command%s: %s" % (
        "" if len(commands) == 1 else "s",
        ", ".join("`%s`" % command for command in commands))]


def page(results, folder):
    text = ["# Benchmarks", "",
            "Written by `benchmarks/page.py` from what `benchmarks/compare.py` "
            "measured; run them to get your own. [How](%s)." % os.path.relpath(
                os.path.join(HERE, "README.md"), folder), ""]
    text += facts(results)
    text += ["", "A ratio is how many times as long a peer takes as Mille in the same "
             "rounds. Quartiles are of all runs. The peak is of the type's own "
             "instruction.", ""]
    text += tables.in_short(results) + [""]
    for name, result in results.items():
        text += ["## " + result["title"], "", result["about"], ""]
        drawing = chart.drawing(result["tables"])
        if drawing:
            file_name = "benchmarks-%s.svg" % name
            with open(os.path.join(folder, file_name), "w") as file:
                file.write(drawing)
            text += ["![Medians with quartiles](%s)" % file_name, ""]
        for table in result["tables"]:
            text += tables.measured_lines(table) + [""]
        text += otherwise(result) + refused(result)
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page")
    parser.add_argument("--work", default=os.path.join(
        os.path.dirname(HERE), "build", "benchmarks"))
    options = parser.parse_args()
    results = read(options.work)
    if not results:
        print("page.py: no results in %s: run benchmarks/compare.py first" %
              options.work, file=sys.stderr)
        return 1
    folder = os.path.dirname(os.path.abspath(options.page))
    with open(options.page, "w") as file:
        file.write(page(results, folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
