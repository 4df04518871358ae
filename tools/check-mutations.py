#!/usr/bin/env python3
"""check-mutations.py [--near] [COUNT] [SEED] [ROOM ...]: whether the tests can tell.

Edits one place of one file, builds the tools and test programs of its room, runs the
room's tests, and puts the file back. A mutant that all tests pass survives: it is
printed, to be answered by a test, or by what makes it equal to the original. --near:
only the tests of the room's own folder, which is quick and finds more survivors. Takes a
minute or more for each, in a clone of its own, whose tree must be clean and whose build
must be up to date.
"""
import os
import random
import re
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                     os.pardir))
TOOLS = ["mille", "mille-opt"]
# Room: what its files are called, its tests, more of them for what these pass, and what
# both run.
ROOMS = {
    "compiler/fuse": (r".*\.cpp", ["compiler/fuse"], ["models", "conformance/native"],
                      TOOLS + ["stages-agree"]),
    "compiler/plan": (r".*\.cpp", ["compiler/plan"],
                      ["compiler/lower", "tools/dtype.test", "conformance/native"],
                      TOOLS),
    "compiler/lower": (r".*\.cpp", ["compiler/lower"],
                       ["runtime/embed.test", "conformance/native"], TOOLS),
    "compiler/rewrite": (r".*\.cpp", ["compiler/rewrite"],
                         ["models", "conformance/native"], TOOLS + ["stages-agree"]),
    "compiler/differentiate": (r".*\.cpp", ["compiler/differentiate"],
                               ["models", "tools/train.test"],
                               TOOLS + ["differences", "projections", "stages-agree"]),
    "runtime/train": (r".*\.cpp", ["runtime/train.test", "runtime/checkpoints.test"],
                      ["tools/train.test"],
                      ["runtime-train", "runtime-rates", "runtime-checkpoints"]),
    "dialects/transformer": (r"(Verify|Infer).*\.cpp", ["dialects/transformer"],
                             ["compiler/interpret", "compiler/import"], TOOLS),
    "dialects/kernel": (r"Verify.*\.cpp", ["dialects/kernel"],
                        ["compiler/interpret", "compiler/plan"], TOOLS),
}
SWAPS = [(" == ", " != "), (" != ", " == "), (" < ", " <= "), (" <= ", " < "),
         (" > ", " >= "), (" >= ", " > "), (" && ", " || "), (" || ", " && "),
         (" + ", " - "), (" - ", " + "), (" * ", " + "), ("true", "false"),
         ("false", "true"), ("(!", "("), ("return failure();", "return success();"),
         ("continue;", "break;")]


def code_of(line):
    """The line with blanks in place of texts and of what is no statement."""
    if re.match(r"\s*(//|#|template|using)", line):
        return ""
    blank = re.sub(r'"(?:[^"\\]|\\.)*"', lambda text: " " * len(text.group()), line)
    return blank.split("//")[0]


def mutants(path):
    """(line, what stands there, what comes in its place), the column too."""
    with open(path) as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines):
        code = code_of(line)
        for old, new in SWAPS:
            at = code.find(old)
            word = old[0].isalpha() and re.search(r"\b%s" % re.escape(old), code)
            if at >= 0 and (word or not old[0].isalpha()):
                at = word.start() if word else at
                yield number, at, old, new
        for match in re.finditer(r"(?<=[ (])\d+(?=[ ;)])", code):
            yield number, match.start(), match.group(), str(int(match.group()) + 1)


def lit(tests):
    """Whether they all pass."""
    with open(os.path.join(ROOT, "build", "CMakeCache.txt")) as file:
        program = re.search(r"^MILLE_LIT:.*?=(.*)$", file.read(), re.MULTILINE).group(1)
    done = subprocess.run([program, "-q", "--max-failures=1"] +
                          [os.path.join(ROOT, "build/test", test) for test in tests],
                          capture_output=True)
    return done.returncode == 0


def build(targets):
    return subprocess.run(["cmake", "--build", os.path.join(ROOT, "build"), "--target"] +
                          targets, capture_output=True).returncode == 0


def judge(path, mutant, room, near_only):
    """`killed`, `survives` or `no program`: what the compiler refuses is no mutant."""
    number, at, old, new = mutant
    with open(path) as file:
        whole = file.read()
    lines = whole.split("\n")
    lines[number] = lines[number][:at] + new + lines[number][at + len(old):]
    try:
        with open(path, "w") as file:
            file.write("\n".join(lines))
        near, far, programs = ROOMS[room][1:]
        if not build(programs):
            return "no program"
        # A far test may run the tools, which near ones of a runtime's room do not.
        survives = lit(near) and (near_only or (build(TOOLS) and lit(far)))
        return "survives" if survives else "killed"
    finally:
        with open(path, "w") as file:
            file.write(whole)


def main():
    near_only = "--near" in sys.argv[1:]
    words = [word for word in sys.argv[1:] if word != "--near"]
    count, seed = (int(word) for word in words[:2] + ["200", "1"][len(words):])
    if subprocess.run(["git", "-C", ROOT, "diff", "--quiet"]).returncode:
        sys.exit("check-mutations: the tree has changes that would be mixed with mutants")
    rooms = words[2:] or list(ROOMS)
    found = []
    for room in rooms:
        folder = os.path.join(ROOT, room)
        for name in sorted(os.listdir(folder)):
            if re.fullmatch(ROOMS[room][0], name):
                path = os.path.join(folder, name)
                found += [(path, mutant, room) for mutant in mutants(path)]
    every = sorted({program for room in rooms for program in ROOMS[room][3]})
    if not build(every):
        sys.exit("check-mutations: the tree itself does not build")
    for room in rooms:
        if not lit(ROOMS[room][1]):
            sys.exit("check-mutations: tests of %s fail without a mutant" % room)
    random.Random(seed).shuffle(found)
    tally = {"killed": 0, "survives": 0}
    for path, mutant, room in found:
        if sum(tally.values()) == count:
            break
        end = judge(path, mutant, room, near_only)
        if end in tally:
            tally[end] += 1
            print("%s:%d: %s -> %s: %s" % (os.path.relpath(path, ROOT), mutant[0] + 1,
                                           mutant[2].strip(), mutant[3].strip(), end),
                  flush=True)
    build(every)
    print("%d of %d mutants killed" % (tally["killed"], sum(tally.values())))
    return 10 * tally["killed"] < 9 * sum(tally.values())


if __name__ == "__main__":
    sys.exit(main())
