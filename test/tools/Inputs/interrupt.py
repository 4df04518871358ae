#!/usr/bin/env python3
"""interrupt.py FOLDER COMMAND ...: interrupts it after several times.

Each time it must end by the signal, or be done before, leave FOLDER as it was, and
work no longer than 0.2 s on each of two cores after the signal: its own time, which
other programs do not add to. At least three times it must not be done before.
"""
import os
import signal
import subprocess
import sys
import time

folder, command = sys.argv[1], sys.argv[2:]
environment = dict(os.environ, TMPDIR=folder)
MOST = 0.4


def worked(pid):
    """Seconds of all its threads."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def listen():  # lit has had it ignored
    signal.signal(signal.SIGINT, signal.SIG_DFL)


stopped = 0
for delay in [0.02, 0.05, 0.1, 0.3, 1.0, 2.0]:
    process = subprocess.Popen(command, env=environment, preexec_fn=listen)
    time.sleep(delay)
    before, start = worked(process.pid), time.time()
    process.send_signal(signal.SIGINT)
    _, status, used = os.wait4(process.pid, 0)
    took = time.time() - start
    after = used.ru_utime + used.ru_stime - before
    left = [os.path.join(at, name) for at, folders, files in os.walk(folder)
            for name in folders + files]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
        break
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGINT or left:
        sys.exit("after %s s: status %d, left %s" % (delay, status, left))
    print("after %s s: ended in %.2f s, of which it worked %.2f" % (delay, took, after))
    if after > MOST:
        sys.exit("after %s s: it worked for %.2f s more" % (delay, after))
    stopped += 1
if stopped < 3:
    sys.exit("only %d were interrupted" % stopped)
print("each worked at most %d ms more on each of 2 cores" % (MOST / 2 * 1000))
