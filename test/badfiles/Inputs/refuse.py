"""Runs `mille compile --stop-after=import` on every bad file of a table.

  refuse.py TABLE MILLE SCRATCH

TABLE is a module beside this one whose CASES are (name, make, expected): make
writes files into a folder and gives the model's path; every expected fragment
must be in the messages, and one is three words or more of a sentence. The exit status must be 1, nothing may be printed as a
result, and a run has 5 seconds of a processor and 512 MB of memory, read-only maps
of files apart.
"""
import importlib
import os
import re
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True


def limits(mille):
    with open(mille, "rb") as file:
        sanitized = b"__asan_init" in file.read()

    def set_limits():
        resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
        if not sanitized:  # shadow memory is more than that
            resource.setrlimit(resource.RLIMIT_DATA, (512 << 20, 512 << 20))
    return set_limits


def is_sentence(part):
    """Whether it says what is wrong, not only that something is."""
    return len(re.findall("[A-Za-z]+", part.split("error: ")[-1])) >= 3


def main():
    table, mille, scratch = sys.argv[1:4]
    set_limits = limits(mille)
    failures, names = 0, set()
    for name, make, expected in importlib.import_module(table).CASES:
        assert name not in names, name
        assert any(is_sentence(part) for part in expected), name
        names.add(name)
        folder = os.path.join(scratch, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        model = make(folder)
        run = subprocess.run([mille, "compile", model, "--stop-after=import"],
                             stdin=subprocess.DEVNULL, capture_output=True,
                             timeout=120, preexec_fn=set_limits)
        told = run.stderr.decode(errors="replace")
        problems = []
        if run.returncode != 1:
            problems.append("exit status is %d" % run.returncode)
        if run.stdout:
            problems.append("something was printed as a result")
        problems += ["missing: " + part for part in expected if part not in told]
        if problems:
            failures += 1
            print("FAILED %s\n  %s\n  told:\n%s" % (name, "\n  ".join(problems), told[:2000]))
        shutil.rmtree(folder, ignore_errors=True)
    print("%d bad files, %d failures" % (len(names), failures))
    return failures != 0


sys.exit(main())
