#!/usr/bin/env python3
"""check-mutations.py [--near] [COUNT] [SEED] [ROOM ...]: whether the tests can tell.

Draws COUNT places of each room, edits all of them at once, so that a number in a file
says which edit is in force, builds the tools and test programs once, and runs the room's
tests for each edit. A mutant that all tests pass survives: it is printed, to be answered
by a test, or by what makes it equal to the original. --near: only the tests of the room's
own folder and random models, which is quick and finds more survivors. In a clone of its own, whose tree
must be clean; its files are put back in the end.
"""
import os
import random
import re
import resource
import signal
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                     os.pardir))
TOOLS = ["mille", "mille-opt"]
MODELS = "random models"
# Room: what its files are called, its tests, more of them for what these pass, and what
# both run.
ROOMS = {
    "compiler/fuse": (r".*\.cpp", ["compiler/fuse", MODELS], ["conformance/native"],
                      TOOLS + ["stages-agree"]),
    "compiler/plan": (r".*\.cpp", ["compiler/plan"],
                      ["compiler/lower", "tools/dtype.test", "conformance/native"],
                      TOOLS),
    "compiler/lower": (r".*\.cpp", ["compiler/lower"],
                       ["runtime/embed.test", "conformance/native", "tools/train.test",
                        "tools/extend.test"], TOOLS),
    "compiler/rewrite": (r".*\.cpp", ["compiler/rewrite", MODELS],
                         ["conformance/native", "tools/certificate.test"],
                         TOOLS + ["stages-agree"]),
    "compiler/differentiate": (r".*\.cpp", ["compiler/differentiate", MODELS],
                               ["tools/train.test"],
                               TOOLS + ["differences", "projections", "stages-agree"]),
    "runtime/train": (r".*\.cpp", ["runtime/train.test", "runtime/checkpoints.test"],
                      ["tools/train.test"],
                      ["runtime-train", "runtime-rates", "runtime-checkpoints"]),
    "runtime": (r"(CheckWeights|Memory|Partition|Sizes|State.*|Weights|Windows)\.cpp",
                ["runtime/%s.test" % name for name in
                 ("tasks", "sizes", "refusal", "launch", "prepare", "weights", "runs", "states",
                  "windows")] + ["images/towers.test"],
                ["runtime/embed.test", "generation"],
                TOOLS + ["runtime-%s" % name for name in
                         ("tasks", "sizes", "refusal", "launch", "prepare", "weights",
                          "runs")]),
    "dialects/transformer": (r"(Verify|Infer).*\.cpp",
                             ["dialects/transformer", "dialects/refused.test"],
                             ["compiler/interpret", "compiler/import"], TOOLS),
    "dialects/kernel": (r"Verify.*\.cpp", ["dialects/kernel", "dialects/refused.test"],
                        ["compiler/interpret", "compiler/plan"], TOOLS),
}
CHOSEN = os.path.join(ROOT, "build", "mutant")  # the number of the one in force
SWAPS = [("==", "!="), ("!=", "=="), ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"),
         ("+", "-"), ("-", "+"), ("*", "+")]
WORDS = [("true", "false"), ("false", "true")]
# What an edited file includes. `a < b` is edited into `a < Swap<7>() < b`, which has the
# precedence of the original.
HEADER = """#pragma once
#include <stdio.h>
namespace mutant {
inline bool on(int number) {
  static int chosen = -2; // without a guard, which the runtime must not have
  if (chosen == -2) {
    int read = -1;
    if (FILE *file = fopen("%s", "r")) {
      if (fscanf(file, "%%d", &read) != 1)
        read = -1;
      fclose(file);
    }
    chosen = read;
  }
  return number == chosen;
}
template <int N> struct Swap {};
template <int N, typename A> struct Held { A a; };
template <int N, typename R> bool both(bool a, R b) {
  return on(N) ? a || b() : a && b();
}
template <int N, typename R> bool either(bool a, R b) {
  return on(N) ? a && b() : a || b();
}
""" % CHOSEN + "".join("""template <typename A, int N>
Held<N, A &&> operator%(a)s(A &&a, Swap<N>) { return {static_cast<A &&>(a)}; }
template <int N, typename A, typename B>
auto operator%(a)s(Held<N, A> held, B &&b) -> decltype(held.a %(a)s b) {
  if (on(N))
    return held.a %(b)s b;
  return held.a %(a)s b;
}
""" % {"a": old, "b": new} for old, new in SWAPS) + "} // namespace mutant\n"


class Mutant:
    """`edits` are (place in the file, length of what stands there, what comes there)."""

    def __init__(self, room, path, line, told, edits):
        self.room, self.path, self.line, self.told = room, path, line, told
        self.edits = edits


def blanked(text):
    """With blanks in place of comments, texts, and what is no statement."""
    blank = lambda found: re.sub(r"[^\n]", " ", found.group())
    return re.sub(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\''
                  r"|^ *(?:#|template|using|case)[^\n]*", blank, text, flags=re.MULTILINE)


def operand(code, at, step, stops):
    """The end of the operand that begins at `at`, towards `step`."""
    opening, closing = ("([{", ")]}") if step > 0 else (")]}", "([{")
    depth = 0
    while 0 <= at < len(code):
        depth += code[at] in opening
        if code[at] in closing:
            depth -= 1
            if depth < 0:
                return at
        if not depth:
            for stop in stops + [";", ",", " = ", " ? ", " : ", "return "]:
                if code.startswith(stop, at) if step > 0 else code.endswith(stop, 0, at + 1):
                    return at
        at += step
    return at


def both_sides(code, at, old, new, name):
    """Edits that make the two operands of && or || arguments, the second when asked."""
    left = operand(code, at - 1, -1, [" || ", "||\n"] if old == "&&" else []) + 1
    right = operand(code, at + 2, 1, [" ||"] + ([" &&"] if old == "&&" else []))
    blank = len(code[left:]) - len(code[left:].lstrip())
    return [(left + blank, 0, "mutant::%s<%%d>(bool(" % name),
            (at, 2, "), [&]() -> bool { return "), (right, 0, "; })")]


def mutants(room, path):
    with open(path) as file:
        text = file.read()
    code = blanked(text)

    def one(at, told, edits):
        return Mutant(room, path, text.count("\n", 0, at) + 1, told, edits)

    for old, new in SWAPS:
        for found in re.finditer(r"(?<= )%s(?= )" % re.escape(old), code):
            yield one(found.start(), (old, new),
                      [(found.start(), len(old), "%s mutant::Swap<%%d>() %s" % (old, old))])
    for old, new, name in (("&&", "||", "both"), ("||", "&&", "either")):
        for found in re.finditer(r" (%s)[ \n]" % re.escape(old), code):
            at = found.start(1)
            yield one(at, (old, new), both_sides(code, at, old, new, name))
    words = [(r"\b%s\b" % old, old, new) for old, new in WORDS]
    words += [(r"(?<=[ (])\d+(?=[ ;),])", None, None)]
    for pattern, old, new in words:
        for found in re.finditer(pattern, code):
            was = found.group()
            to = new or str(int(was) + 1)
            yield one(found.start(), (was, to),
                      [(found.start(), len(was), "(mutant::on(%%d) ? %s : %s)" % (to, was))])
    for found in re.finditer(r"(?<=\()!(?=[^=])", code):
        yield one(found.start(), ("!", ""), [(found.start(), 0, "mutant::on(%d) != ")])
    for found in re.finditer(r"return failure\(\);", code):
        yield one(found.start(), ("failure", "success"),
                  [(found.start() + 7, 9, "mlir::failure(!mutant::on(%d))")])
    for found in re.finditer(r"\bcontinue;", code):
        yield one(found.start(), ("continue", "break"),
                  [(found.start(), 9, "{ if (mutant::on(%d)) break; continue; }")])


def write(originals, chosen):
    """The files with all of the mutants, each under its number."""
    for path, text in originals.items():
        edits = []
        for number, mutant in chosen.items():
            if mutant.path != path:
                continue
            first, last = mutant.edits[0][0], mutant.edits[-1][0]
            for place, length, to in mutant.edits:
                # At one place the end of the inner comes first, the begin of the outer.
                order = (0, -first) if place == last != first else (1, -last)
                edits.append((place, order, length, to % number if "%d" in to else to))
        whole, at = ['#include "mutant.h"\n'] if edits else [], 0
        for place, _, length, to in sorted(edits):
            whole += [text[at:place], to]
            at = place + length
        with open(path, "w") as file:
            file.write("".join(whole) + text[at:])


def build(targets):
    return subprocess.run(["cmake", "--build", os.path.join(ROOT, "build"), "--target"] +
                          targets + ["--", "-k", "0"], capture_output=True, text=True)


def build_all(originals, chosen, programs):
    """Leaves out what the compiler refuses, which is no mutant."""
    while True:
        write(originals, chosen)
        done = build(programs)
        if not done.returncode:
            return
        refused = set()
        for path, line in re.findall(r"([\w/.+-]+\.cpp):(\d+):\d+: (?:error|note)",
                                     done.stdout):
            refused |= {number for number, mutant in chosen.items()
                        if path.endswith(os.path.relpath(mutant.path, ROOT)) and
                        (mutant.line == int(line) - 1 or
                         len(mutant.edits) > 1 and abs(mutant.line - int(line) + 1) < 3)}
        if not refused:
            sys.exit("check-mutations: does not build:\n" + done.stdout[-4000:])
        for number in refused:
            del chosen[number]


def succeeds(command):
    """Whether it does, in ten minutes and 8 GB: an edited loop may have no end."""
    limits = lambda: resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True, preexec_fn=limits) as running:
        try:
            return running.wait(600) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if running.returncode is None:
                os.killpg(running.pid, signal.SIGKILL)


def passes(test):
    """Whether it does, or all of its folder do; the quick ones first."""
    if test == MODELS:
        work = os.path.join(ROOT, "build", "mutant-models")
        os.makedirs(work, exist_ok=True)
        return succeeds(
            [sys.executable, os.path.join(ROOT, "test/models/Inputs/random_specs.py"),
             os.path.join(ROOT, "build/bin/mille"),
             os.path.join(ROOT, "build/test/programs/stages-agree"), work, "1", "60"])
    with open(os.path.join(ROOT, "build", "CMakeCache.txt")) as file:
        program = re.search(r"^MILLE_LIT:.*?=(.*)$", file.read(), re.MULTILINE).group(1)
    return all(succeeds([program, "-q", "--max-failures=1", "--allow-empty-runs",
                         r"--filter%s=\.mlir$" % of,
                         os.path.join(ROOT, "build/test", test)]) for of in ("", "-out"))


def choose(number):
    with open(CHOSEN, "w") as file:
        file.write("%d\n" % number)


def judge_room(room, drawn, near_only):
    """The number of its mutants, and of those killed."""
    near, far, programs = ROOMS[room][1:]
    originals = {}
    for path in {mutant.path for mutant in drawn}:
        with open(path) as file:
            originals[path] = file.read()
    chosen = dict(enumerate(drawn))
    try:
        choose(-1)
        build_all(originals, chosen, programs)
        if not all(map(passes, near)):
            sys.exit("check-mutations: tests of %s fail without a mutant" % room)
        killed = 0
        for number, mutant in chosen.items():
            choose(number)
            survives = all(map(passes, near + ([] if near_only else far)))
            killed += not survives
            print("%s:%d: %s -> %s: %s" % (os.path.relpath(mutant.path, ROOT), mutant.line,
                                           *mutant.told,
                                           "survives" if survives else "killed"),
                  flush=True)
        return len(chosen), killed
    finally:
        write(originals, {})
        choose(-1)


def main():
    near_only = "--near" in sys.argv[1:]
    words = [word for word in sys.argv[1:] if word != "--near"]
    count, seed = (int(word) for word in words[:2] + ["40", "1"][len(words):])
    if subprocess.run(["git", "-C", ROOT, "diff", "--quiet"]).returncode:
        sys.exit("check-mutations: the tree has changes that would be mixed with mutants")
    with open(os.path.join(ROOT, "build", "mutant.h"), "w") as file:
        file.write(HEADER)
    total = killed = 0
    for room in words[2:] or ROOMS:
        folder, found = os.path.join(ROOT, room), []
        for name in sorted(os.listdir(folder)):
            if re.fullmatch(ROOMS[room][0], name):
                found += mutants(room, os.path.join(folder, name))
        random.Random(seed).shuffle(found)
        one, of_these = judge_room(room, found[:count], near_only)
        print("%s: %d of %d mutants killed" % (room, of_these, one), flush=True)
        total, killed = total + one, killed + of_these
    print("%d of %d mutants killed" % (killed, total))
    return 10 * killed < 9 * total


if __name__ == "__main__":
    sys.exit(main())
