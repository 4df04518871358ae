"""Cuts the weights of a package while `mille generate` continues ids with it: the
command must say so and exit with 1.

  cut-weights.py MILLE FOLDER NAME TOKENS
"""
import fcntl
import os
import subprocess
import sys

mille, folder, name, tokens = sys.argv[1:]
command = [mille, "generate", folder, "--ids=1,2,3", "--json", "--logprobs=20",
           "--temperature=0", "--max-tokens=" + tokens]
# So small a pipe is full before the last token: the command waits.
out, into = os.pipe()
fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
process = subprocess.Popen(command, stdout=into, stderr=subprocess.PIPE)
os.close(into)
with open(out, "rb") as told:
    first = told.readline()
    os.truncate(os.path.join(folder, name + ".weights"), 0)
    rest = told.read()
errors = process.stderr.read()
print(f"{1 + rest.count(b'id')} tokens, status {process.wait()}")
print(errors.decode(), end="")
