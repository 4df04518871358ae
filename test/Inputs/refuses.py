#!/usr/bin/env python3
"""refuses.py STATUS COMMAND ...: done if the command exits with STATUS, exactly, and
says why on stderr.

STATUS is 1 (your input), 2 (your command line) or 3 (your machine), or a word:
`differs`: 1, of a report on stdout that says what differs;
`seeded-bug`: 4 (our bug), which the test itself brings about.
No other 4 is expected, and no signal. lit's `not` would take them all.
"""
import subprocess
import sys

STATUSES = {"1": 1, "2": 2, "3": 3, "differs": 1, "seeded-bug": 4}
word = sys.argv[1]
if word not in STATUSES:
    sys.exit(f"a test may expect {', '.join(STATUSES)}, not {word}")
run = subprocess.run(sys.argv[2:], stderr=subprocess.PIPE,
                     stdout=subprocess.PIPE if word == "differs" else None)
said = run.stdout if word == "differs" else run.stderr
sys.stdout.flush()
sys.stdout.buffer.write(run.stdout or b"")
sys.stdout.flush()
sys.stderr.buffer.write(run.stderr)
sys.stderr.flush()
if run.returncode != STATUSES[word]:
    sys.exit("exit status is %d but %s is expected" % (run.returncode, word))
if not said.strip():
    sys.exit("nothing is said on std" + ("out" if word == "differs" else "err"))
