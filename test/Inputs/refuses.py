#!/usr/bin/env python3
"""refuses.py STATUS COMMAND ...: done if the command exits with STATUS, exactly, and
says why on stderr.

STATUS is 1 (your input), 2 (your command line) or 3 (your machine); 4 (our bug) and
signals are never expected. lit's `not` would take them all.
"""
import subprocess
import sys

if sys.argv[1] not in ("1", "2", "3"):
    sys.exit("a test may expect 1, 2 or 3, not " + sys.argv[1])
run = subprocess.run(sys.argv[2:], stderr=subprocess.PIPE)
sys.stdout.flush()
sys.stderr.buffer.write(run.stderr)
sys.stderr.flush()
if run.returncode != int(sys.argv[1]):
    sys.exit("exit status is %d but %s is expected" % (run.returncode, sys.argv[1]))
if not run.stderr.strip():
    sys.exit("nothing is said on stderr")
