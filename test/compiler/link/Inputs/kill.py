# kill.py KILLS FOLDER MILLE MODEL: compiles over a package again and again and kills
# that (SIGKILL) at random moments, half of them near its end. Each time the folder
# holds one of the two packages, whole; and in the end nothing else is left anywhere.
# A compile that ends before its moment says how long one takes now, and counts not.
import os
import random
import shutil
import signal
import subprocess
import sys
import time

kills, folder, mille, model = int(sys.argv[1]), *sys.argv[2:5]
parent = os.path.dirname(folder)
weights = ["random:1", "random:2"]


def command(which):
    return [mille, "compile", model, "--name=m", "--target=x86-64-v3",
            "--weights=" + weights[which], "-o", folder]


def content():
    return {name: open(os.path.join(folder, name), "rb").read()
            for name in sorted(os.listdir(folder))}


shutil.rmtree(parent, ignore_errors=True)
packages, whole = [], float("inf")
for which in (0, 1):  # the first one fills the cache of kernels
    start = time.monotonic()
    subprocess.run(command(which), check=True)
    whole = time.monotonic() - start
    packages.append(content())
assert packages[0] != packages[1]

draw = random.Random(int.from_bytes(os.urandom(4), "little"))


def kill(moment):
    """Whether a compile of the other package was killed at this part of its time."""
    global whole
    start = time.monotonic()
    run = subprocess.Popen(command(1 - now), stderr=subprocess.DEVNULL)
    try:
        run.wait(moment * whole)
    except subprocess.TimeoutExpired:
        run.send_signal(signal.SIGKILL)
    if run.wait() == -signal.SIGKILL:
        return 1
    whole = min(whole, time.monotonic() - start)
    return 0


now = compiles = killed = 0
while killed < kills:
    near = 0.8 + 0.25 * draw.random() if compiles % 2 else draw.random()
    killed += kill(near)
    compiles += 1
    assert compiles < 20 * kills, f"{killed} of {compiles} compiles were killed"
    found = content()
    assert found in packages, sorted(found)
    now = packages.index(found)
subprocess.run(command(now), check=True)
assert content() == packages[now] and os.listdir(parent) == [os.path.basename(folder)], os.listdir(parent)

# Beside a file that is not the package's: no package while it is mixed.
with open(os.path.join(folder, "note"), "w") as file:
    file.write("mine")
for i in range(kills):
    killed += kill(0.8 + 0.25 * draw.random())
    compiles += 1
    found = {name: open(os.path.join(folder, name), "rb").read()
             for name in os.listdir(folder) if not name.startswith(".")}
    assert found.pop("note") == b"mine"
    if "m.json" in found:
        assert found in packages, sorted(found)
        now = packages.index(found)
subprocess.run(command(now), check=True)
assert sorted(os.listdir(folder)) == sorted([*packages[now], "note"]), os.listdir(folder)
print(f"{compiles} compiles, {killed} killed, old package or new each time")
