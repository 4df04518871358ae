#!/usr/bin/env python3
"""stop_training.py COMMAND ...: Ctrl-C during `mille train` saves what as many steps give.

COMMAND has all options but --steps, --save and --log. Once two steps are done it is
interrupted: it must end with 0, with the checkpoint of a training that long.
"""
import signal
import subprocess
import sys
import time

command, LOG = sys.argv[1:], "stopped.log"


def listen():  # lit has had it ignored
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def steps():
    try:
        with open(LOG) as file:
            return sum(line.endswith("\n") for line in file)
    except FileNotFoundError:
        return 0


training = subprocess.Popen(command + ["--steps=1000000", "--save=stopped", "--log=" + LOG],
                            preexec_fn=listen)
while steps() < 2 and training.poll() is None:
    time.sleep(0.01)
training.send_signal(signal.SIGINT)
if training.wait() != 0:
    sys.exit("it ended with %d" % training.returncode)
subprocess.run(command + ["--steps=%d" % steps(), "--save=straight"], check=True,
               stdout=subprocess.DEVNULL)
with open("stopped", "rb") as one, open("straight", "rb") as other:
    if one.read() != other.read():
        sys.exit("the checkpoint is not that of %d steps" % steps())
print("the checkpoint is that of its steps")
