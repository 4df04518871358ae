# Sends SIGINT to a compile at moments all over its run: interrupt.py FOLDER
# COMMAND... The first one runs to its end and fills the kernel cache.
import os
import shutil
import signal
import subprocess
import sys
import time

folder, command = sys.argv[1], sys.argv[2:] + ["-o", sys.argv[1]]


def content(at):
    return {name: open(os.path.join(at, name), "rb").read()
            for name in sorted(os.listdir(at))}


subprocess.run(command, check=True)
start = time.monotonic()
subprocess.run(command, check=True)
whole = time.monotonic() - start
good = content(folder)
shutil.rmtree(os.path.dirname(folder))

def listen():  # a parent in the background has had it ignored
    signal.signal(signal.SIGINT, signal.SIG_DFL)


stopped = 0
for part in range(1, 41):
    run = subprocess.Popen(command, stderr=subprocess.DEVNULL,
                           preexec_fn=listen)
    time.sleep(whole * part / 40)
    run.send_signal(signal.SIGINT)
    code = run.wait()
    if code == 0:
        assert content(folder) == good
        shutil.rmtree(os.path.dirname(folder))
        continue
    assert code == -signal.SIGINT, code
    stopped += 1
    parent = os.path.dirname(folder)
    if os.path.exists(parent):  # it was whole when the signal came
        assert content(folder) == good, os.listdir(folder)
        shutil.rmtree(parent)
assert stopped > 10, stopped
