#!/usr/bin/env python3
"""promises.py --page: prints docs/promises.md, what Mille promises and what shows it.
promises.py RESULTS.json ...: the promises, each with how many of its tests passed.

RESULTS.json is what tools/check.sh leaves in build/test. A promise whose tests did not
all pass, or of which none ran, is told, and the exit status is then 1. Figures are read
off the tests, which demand them: no number is typed here but those of BY_HAND, which are
of runs that no test repeats. After a change:
  tools/promises.py --page > docs/promises.md
"""
import glob
import json
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)


class Promise:
    """`tests` and `by_hand` are paths under test and tools. A figure is what it is of,
    the files that have it (under the root), and the expression whose numbers are added
    up, or whose matches are counted where it has no group. What is `told` differs from
    run to run: what it is of, and the expression whose numbers in the output of the
    tests are added up."""

    def __init__(self, number, text, tests, by_hand=(), figures=(), told=()):
        self.number, self.text = number, text
        self.tests, self.by_hand, self.figures = tests, by_hand, figures
        self.told = told

    def has(self, name):
        return any(name == path or name.startswith(path + "/") for path in self.tests)


PROMISES = [
    Promise("P1", "every malformed input gets a sentence with a place, and exit 1",
            ["badfiles", "fuzz", "tools/manifest.test", "tools/mille-opt-deep.test",
             "text/errors.test", "text/hostile.test"], ["check-fuzz.sh"],
            [("bad files", "test/badfiles/*.test", r"CHECK: (\d+) bad files"),
             ("mutated files", "test/fuzz/fuzz.test", r"fuzz-\w+ (\d+) "),
             ("mutated models", "test/fuzz/interpret.test", r"fuzz-\w+ (\d+) "),
             ("seconds of libFuzzer", "test/fuzz/libfuzzer-*.test",
              r"libfuzzer\.py \S+ \S+ (\d+) "),
             ("executions in these at least", "test/fuzz/libfuzzer-*.test",
              r"libfuzzer\.py \S+ \S+ \d+ (\d+) ")],
            [("executions of libFuzzer", r"(\d+) executions in ")]),
    Promise("P2",
            "every sentence is expected by a test, but for faults that no input brings about",
            ["lints/messages.test"], [],
            [("sentences that no input brings about", "test/lints/messages.test",
              r"(\d+) of what no test")]),
    Promise("P3", "every op has a meaning that runs, every constraint a test",
            ["compiler/interpret", "lints/labels.test", "lints/verifiers.test"], [],
            [("constraints", "dialects/*/*.td", r"^ *(?:\* )?\(C\d+\) ")]),
    Promise("P4", "every pass keeps the meaning",
            ["models", "compiler/fuse", "compiler/rewrite"],
            ["check-random.sh", "check-configs.py", "check-sanitized.py"],
            [("random models", "test/models/*.test", r"CHECK: (\d+) specs agree"),
             ("laws on models in double", "test/compiler/rewrite/laws.test",
              r"CHECK.*: applied, ")]),
    Promise("P5", "accuracy is stated and kept",
            ["numerics", "compiler/halide", "conformance", "examples"],
            ["check-long.sh"],
            [("cases of conformance", "test/conformance/**/case.json", r"\A"),
             ("rows of tolerances", "compiler/interpret/tolerances.json",
              r'"reason":')]),
    Promise("P6", "kernels touch no byte outside their tensors",
            ["compiler/halide", "numerics", "runtime/sanitize-address.test"], [],
            [("sizes of kernels of AVX2", "test/**/*-avx2.test",
              r"^[A-Z]+: (\d+) sizes of kernels ran")]),
    Promise("P7", "kernels write every byte and read no unwritten one",
            ["runtime/embed.test", "numerics"], [],
            [("runs in memory full of NaN", "test/runtime/embed.test",
              r"CHECK: (\d+) runs, one answer")]),
    Promise("P8", "same input, same bits: threads, batches, places",
            ["runtime/same-bits.test", "runtime/embed.test", "runtime/runs.test",
             "runtime/states.test", "tools/cuts.test", "tools/extend.test",
             "tools/dtype.test", "runtime/train.test", "tools/train.test"],
            ["check-extend.py"],
            [("runs of each type", "test/runtime/same-bits.test",
              r"CHECK: (\d+) runs, 0 differ"),
             ("runs of each program", "test/runtime/embed.test",
              r"CHECK: (\d+) runs, one answer")]),
    Promise("P9", "same model, same bytes out",
            ["compiler/link/same-bytes.test", "compiler/link/anywhere.test",
             "lints/order.test"], [],
            [("equal compiles", "test/compiler/link/anywhere.test",
              r"CHECK: \d+ of (\d+) compiles")]),
    Promise("P10", "the build is reproducible", [], ["check-reproducible.sh"]),
    Promise("P11", "files appear whole or not at all",
            ["compiler/link/kill.test", "compiler/link/no-room.test",
             "compiler/link/restore.test", "compiler/link/interrupt.test",
             "compiler/link/power-cut.test", "runtime/checkpoints.test"],
            ["check-kills.sh"],
            [("kills", "test/compiler/link/kill.test", r"kill\.py (\d+)")]),
    Promise("P12", "memory, threads and files refused: a status, no leak",
            ["runtime/refusal.test", "runtime/train.test"], [],
            [("refusals", "test/runtime/refusal.test",
              r"CHECK: (\d+) refusals")]),
    Promise("P13", "weights are checked before use",
            ["runtime/weights.test", "tools/weights.test",
             "badfiles/safetensors.test"], [],
            [("bad safetensors", "test/badfiles/safetensors.test",
              r"CHECK: (\d+) bad files")]),
    Promise("P14", "sessions on one model do not disturb each other",
            ["runtime/threads.test", "runtime/sanitize-thread.test"], [],
            [("runs of each thread", "test/runtime/threads.test",
              r"%t\.weights (\d+)")]),
    Promise("P15", "cancel and interrupts work",
            ["tools/interrupt.test", "compiler/link/interrupt.test",
             "runtime/threads.test", "runtime/train.test", "generation",
             "python/train.test"], [],
            [("ms of a core after an interrupt", "test/tools/interrupt.test",
              r"CHECK: each worked at most (\d+) ms"),
             ("runs that end with the task", "test/runtime/threads.test",
              r"CHECK: (\d+) runs cancelled")]),
    Promise("P16", "no silent fallback",
            ["tools/remarks.test", "tools/report.test", "tools/require-fused.test"], [],
            [("boundaries kept for a reason", "test/compiler/fuse/*.mlir",
              r"^(?:func\.func|transformer\.model) @keep_as")]),
    Promise("P17", "a bug of ours comes with a reproducer", ["tools/reproducer.test"],
            [], [("faults", "test/tools/reproducer.test", r"MILLE_FAULT=")]),
    Promise("P18", "code and kernels do not grow with layers, time and memory linearly",
            ["compiler/fuse/depth.test", "compiler/lower", "tools/depth.test",
             "runtime/high-water.test", "tools/opencl-depth.test", "tools/opencl-depth-llama.test"],
            ["check-depth.py", "check-long.sh"],
            [("layers", "test/tools/depth.test", r"CHECK: (\d+) layers:"),
             ("exponent of time at most", "test/tools/depth.test",
              r"CHECK: time grows with exponent .*, of at most ([\d.]+): ok")]),
    Promise("P19", "passes twice are passes once; what is printed reads back",
            ["compiler/driver/twice.test", "dialects"], [],
            [("passes", "test/compiler/driver/twice.test", r"CHECK: (\d+) passes")]),
    Promise("P20", "packages stay readable", ["tools/kept-packages.test"], [],
            [("packages kept", "test/Inputs/packages/*/outputs.safetensors", r"\A")]),
    Promise("P21", "the right machine, or a clear no",
            ["tools/lacking.test", "tools/devices.test", "runtime/weights.test"], [],
            [("features", "test/runtime/weights.test",
              r"CHECK: (\d+) features, each")]),
    Promise("P22", "the tests can tell", [], ["check-mutations.py", "check-coverage.sh"]),
]
INTRO = """# Promises

Written by `tools/promises.py --page`. Tests are files and folders of
[test](../test), tools are of [tools](../tools): they take minutes or hours, so they run
by hand. Figures are those that tests demand. After `tools/check.sh`,
`tools/promises.py build/test/results.json` says of each promise how many of its tests
passed. [By hand](by-hand.md) has what the tools last gave, and the
[README](../README.md#promises) the promises in other words, with more of them.
"""


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def figure(words, files, expression):
    """`bad files: 135`, of what the tests say. There is no figure of 0 matches."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, files), recursive=True)):
        found += re.findall(expression, read(path), re.MULTILINE)
    if not found:
        sys.exit("promises: no %s in %s" % (words, files))
    grouped = re.compile(expression).groups
    count = sum(map(json.loads, found)) if grouped else len(found)
    return "%s: %s" % (words, count)


def link(folder, path):
    if not os.path.exists(os.path.join(ROOT, folder, path)):
        sys.exit("promises: there is no %s/%s" % (folder, path))
    return "[%s](../%s/%s)" % (path, folder, path)


def page():
    print(INTRO)
    print("| | promise | tests | by hand | figures |\n|---|---|---|---|---|")
    for promise in PROMISES:
        shown = [", ".join(link("test", path) for path in promise.tests),
                 ", ".join(link("tools", path) for path in promise.by_hand),
                 ", ".join(figure(*one) for one in promise.figures)]
        print("| %s | %s | %s |" % (promise.number, promise.text,
                                    " | ".join(cell or "-" for cell in shown)))


def results(reports):
    tests = []
    for path in reports:
        with open(path) as file:
            tests += json.load(file)["tests"]
    width = max(len(promise.text) for promise in PROMISES)
    broken = 0
    for promise in PROMISES:
        own = [test for test in tests if promise.has(test["name"].split(" :: ")[-1])]
        codes = [test["code"] for test in own]
        passed = codes.count("PASS")
        absent = codes.count("UNSUPPORTED")  # their REQUIRES names what is lacking
        failed = len(codes) - passed - absent
        untested = promise.tests and not passed
        broken += bool(failed or untested)
        said = ["%d passed" % passed] if promise.tests else []
        said += ["by hand: " + ", ".join(promise.by_hand)] if not promise.tests else []
        said += ["%d not here" % absent] if absent else []
        said += ["%d FAILED" % failed] if failed else []
        said += ["NOT TESTED"] if untested else []
        if passed and not failed:
            said += [figure(*one) for one in promise.figures]
            said += ["%s: %d" % (words, sum(map(int, re.findall(
                expression, "\n".join(test.get("output", "") for test in own)))))
                     for words, expression in promise.told]
        print(f"{promise.number:4}{promise.text:{width}}  {', '.join(said)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(page() if sys.argv[1:] == ["--page"] else results(sys.argv[1:]))
