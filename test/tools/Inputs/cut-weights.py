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
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
# So small a pipe is full before the last token: the command waits.
fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
first = process.stdout.readline()
os.truncate(os.path.join(folder, name + ".weights"), 0)
rest, errors = process.communicate()
print(f"{1 + rest.count(b'id')} tokens, status {process.returncode}")
print(errors.decode(), end="")
