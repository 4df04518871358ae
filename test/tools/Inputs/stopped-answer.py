#!/usr/bin/env python3
"""stopped-answer.py MILLE PACKAGE TOKENS: a Ctrl-C behind the first token of an answer.

The answer ends there, whole and with status 0: it is a beginning of the answer of
TOKENS tokens. In a chat the next turn is answered.
"""
import fcntl
import os
import re
import signal
import subprocess
import sys

mille, package, tokens = sys.argv[1:]


def listen():  # lit has had it ignored
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(*options, turns=b""):
    """The lines of a run that gets the signal when it has written one."""
    command = [mille, "generate", package, "--json", "--temperature=0", "--stats",
               "--max-tokens=" + tokens, *options]
    # So small a pipe is full long before the last token: the command waits.
    out, into = os.pipe()
    fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=into,
                               stderr=subprocess.PIPE, preexec_fn=listen)
    os.close(into)
    process.stdin.write(turns)
    process.stdin.close()
    with open(out, "rb") as said:
        lines = [said.readline()]
        process.send_signal(signal.SIGINT)
        lines += said.readlines()
    errors = process.stderr.read().decode()
    assert process.wait() == 0, (process.returncode, errors)
    return lines, [int(n) for n in re.findall(r"; (\d+) more", errors)]


whole = subprocess.run([mille, "generate", package, "--json", "--temperature=0",
                        "--max-tokens=" + tokens, "--ids=1,2,3"],
                       capture_output=True, check=True).stdout.splitlines(True)
assert len(whole) == int(tokens), len(whole)
lines, more = interrupted("--ids=1,2,3")
assert lines == whole[:len(lines)] and len(lines) < len(whole), len(lines)
assert len(more) == 1, more
lines, more = interrupted("--chat", turns=b"abc\nb\n")
assert len(more) == 2 and more[0] < int(tokens) - 1, more
assert len(lines) > more[0] + 1 and more[1] > 0, (len(lines), more)
print("an answer ends at Ctrl-C, a chat goes on")
