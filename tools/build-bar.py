#!/usr/bin/python3
"""build-bar.py LOG COMMAND ...: runs a build and shows a bar in place of its lines.

LOG gets all that the build prints. In a terminal the bar moves; elsewhere there is
a line for every tenth. A build that fails ends with its last lines and its exit
status."""
import os
import re
import subprocess
import sys
import time

WIDTH = 40


def left(seconds):
    if seconds < 90:
        return "about a minute left"
    return f"about {round(seconds / 60)} minutes left"


def bar(done, total, began):
    share = done / total
    text = "#" * int(share * WIDTH)
    passed = time.monotonic() - began
    # The first steps say little: large files and small ones are mixed later on.
    wait = left(passed / share - passed) if 0.05 < share < 1 else ""
    return f"[{text:.<{WIDTH}}] {100 * done // total:3d} %  {wait}"


log, command = sys.argv[1], sys.argv[2:]
live = sys.stdout.isatty()
began, shown, lines = time.monotonic(), -1, []
build = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, errors="replace",
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env={**os.environ, "NINJA_STATUS": "[%f/%t] "})
with open(log, "w") as file:
    for line in build.stdout:
        file.write(line)
        lines.append(line)
        step = re.match(r"\[(\d+)/(\d+)\] ", line)
        if not step:
            continue
        done, total = int(step[1]), int(step[2])
        if live:
            print("\r" + bar(done, total, began).ljust(78), end="", flush=True)
        elif 10 * done // max(1, total) > shown:
            shown = 10 * done // max(1, total)
            print(bar(done, total, began), flush=True)
if live:
    print()
status = build.wait()
if status:
    sys.stdout.write("".join(lines[-40:]))
    print(f"the build has failed; all that it said is in {log}")
sys.exit(status)
