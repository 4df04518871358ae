"""cut_prompt.py MILLE PACKAGE: a Ctrl-C while a chat reads a long turn. The turn is taken
back, and the next one is answered as in a chat that begins with it.
"""
import os
import re
import signal
import subprocess
import sys
import time

mille, package = sys.argv[1:]
LONG = "the quick brown fox " * 1200


def listen():  # lit has had it ignored
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def seconds(process):
    """Of the CPU, that the process has taken."""
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def chat(*turns, cut=False):
    process = subprocess.Popen(
        [mille, "generate", package, "--chat", "--temperature=0", "--max-tokens=8",
         "--context=8192", "--threads=1", "--stats"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=listen)
    process.stdin.write("".join(turn + "\n" for turn in turns).encode())
    process.stdin.close()
    while cut and process.poll() is None and seconds(process) < 1:
        time.sleep(0.01)
    if cut:
        process.send_signal(signal.SIGINT)
    said, errors = process.stdout.read().decode(), process.stderr.read().decode()
    assert process.wait() == 0, (process.returncode, errors)
    return said, re.findall(r"prompt (\d+) tokens.*; (\d+) more", errors)


alone, _ = chat("What is the capital of France?")
said, stats = chat(LONG, "What is the capital of France?", cut=True)
assert len(stats) == 2 and stats[0][1] == "0", stats
assert int(stats[1][0]) < 100, stats
assert alone.strip() and said.strip() == alone.strip(), (said, alone)
print("a turn that is cut leaves the chat as it was")
