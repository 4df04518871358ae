#!/usr/bin/env python3
"""interrupt.py FOLDER COMMAND ...: interrupts it after several times.

Each time it must end by the signal, or be done before, soon after, and leave
FOLDER as it was."""
import os
import signal
import subprocess
import sys
import time

folder, command = sys.argv[1], sys.argv[2:]
environment = dict(os.environ, TMPDIR=folder)
for delay in [0.02, 0.1, 0.3, 1.0, 2.0]:
    process = subprocess.Popen(command, env=environment)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    start = time.time()
    status = process.wait()
    took = time.time() - start
    left = [os.path.join(at, name) for at, folders, files in os.walk(folder)
            for name in folders + files]
    if status == 0:
        break
    if status != -signal.SIGINT or left:
        sys.exit("after %s s: status %d, left %s" % (delay, status, left))
    print("after %s s: ended in %.2f s" % (delay, took))
