# Runs a compile under ever larger limits on the size of a file, until it works:
# no-room.py COMMAND... -o FOLDER.
import os
import resource
import signal
import subprocess
import sys

command, folder = sys.argv[1:], sys.argv[-1]


def limited(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


size, tried = 512, 0
while True:
    run = subprocess.run(command, stderr=subprocess.PIPE, text=True,
                         restore_signals=False,
                         preexec_fn=lambda: limited(size))
    if run.returncode == 0:
        break
    assert run.returncode == 3, (size, run.returncode, run.stderr)
    assert not os.path.exists(os.path.dirname(folder)), size
    print(run.stderr)
    tried += 1
    size *= 3
print(tried, "limits, nothing left")
for name in os.listdir(folder):
    os.unlink(os.path.join(folder, name))
os.rmdir(folder)
os.rmdir(os.path.dirname(folder))
