#!/usr/bin/env python3
"""libfuzzer.py PROGRAM WORK SECONDS LEAST SEEDS: runs a libFuzzer program for SECONDS
from the files of the folder SEEDS, with their words as its dictionary, in the folder
WORK. Says how many inputs it ran. Fails where one of them crashed, took 200 s or 512 MB
at once, or where fewer than LEAST ran or none of them reached what the seeds do not.

What crashed stays in WORK/found, and later runs begin with it.
"""
import os
import re
import shutil
import subprocess
import sys

LAST = 60  # lines of a failure's log that are shown


def dictionary(seeds):
    """The words of the files of a folder, as libFuzzer reads them."""
    words = set()
    for name in sorted(os.listdir(seeds)):
        with open(os.path.join(seeds, name), "rb") as file:
            words.update(re.findall(rb"[\w%@#!.]{2,32}", file.read()))
    return "".join('"%s"\n' % "".join("\\x%02x" % byte for byte in word)
                   for word in sorted(words))


def run(program, work, seconds, seeds):
    """The exit status, and what was said."""
    corpus, found = os.path.join(work, "corpus"), os.path.join(work, "found")
    shutil.rmtree(corpus, ignore_errors=True)
    os.makedirs(corpus)
    os.makedirs(found, exist_ok=True)
    words = os.path.join(work, "words")
    with open(words, "w") as file:
        file.write(dictionary(seeds))
    log = os.path.join(work, "log")
    with open(log, "wb") as file:
        status = subprocess.call(
            [program, "-max_total_time=%d" % seconds, "-print_final_stats=1",
             "-timeout=200", "-report_slow_units=200", "-malloc_limit_mb=512",
             "-detect_leaks=0", "-dict=" + words,
             "-artifact_prefix=" + os.path.join(found, ""), corpus, seeds, found],
            stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    with open(log, errors="replace") as file:
        return status, file.read()


def main():
    program, work, seconds, least, seeds = sys.argv[1:]
    status, told = run(program, work, int(seconds), seeds)
    ran, new = (int((re.findall(r"^stat::%s:\s*(\d+)" % name, told, re.MULTILINE) or [0])[-1])
                for name in ("number_of_executed_units", "new_units_added"))
    if status or ran < int(least) or not new:
        print("\n".join(told.splitlines()[-LAST:]))
    for path in re.findall(r"Test unit written to (.*)", told):
        print("again: %s %s" % (program, path))
    if status:
        sys.exit("exit status %d after %d executions" % (status, ran))
    print("%d executions in %s s, at least %s; %d of them reached more; no crash"
          % (ran, seconds, least, new))
    if ran < int(least) or not new:
        sys.exit("these are too few")


main()
