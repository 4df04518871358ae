#!/usr/bin/env python3
"""expect.py STATUS COMMAND ...: done if the command exits with STATUS, exactly.

A command that a signal ends has no status and is never as expected.
"""
import subprocess
import sys

status = subprocess.run(sys.argv[2:]).returncode
if status != int(sys.argv[1]):
    sys.exit("exit status is %d but %s is expected" % (status, sys.argv[1]))
