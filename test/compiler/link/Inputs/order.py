"""order.py LIBRARY FOLDER COMMAND ...: what a compile to FOLDER flushes and moves.

LIBRARY is made of Order.c. Before anything is moved to FOLDER all files that come there,
and the folder they lie in, are on the disk; afterwards, so are their new names.
"""
import os
import subprocess
import sys

library, folder, command = sys.argv[1], sys.argv[2], sys.argv[3:]
order = folder + ".order"
before = set(os.listdir(folder)) if os.path.isdir(folder) else set()
kept = {name: os.stat(os.path.join(folder, name)).st_ino for name in before}
subprocess.run(command, check=True,
               env=dict(os.environ, LD_PRELOAD=library, ORDER=order))
with open(order) as file:
    log = [(what, int(inode), to.strip()) for what, inode, to in
           (line.split(" ", 2) for line in file)]
inodes = {name: os.stat(os.path.join(folder, name)).st_ino for name in os.listdir(folder)}
files = {inode for name, inode in inodes.items() if kept.get(name) != inode}
home = os.stat(folder).st_ino
moves = [at for at, (what, _, to) in enumerate(log)
         if what == "move" and folder in (to, os.path.dirname(to))]
flushed = {inode for what, inode, _ in log[:moves[0]] if what == "flush"}
assert len(files) >= 6 and files <= flushed, (files, log)
# As one, the folder is moved, and its name is in the folder above it.
whole = log[moves[0]][1] == home
names = os.stat(os.path.dirname(folder)).st_ino if whole else home
assert not whole or home in flushed, log
assert ("flush", names, "") in log[moves[-1]:], log
print("%d files on the disk, then %s, then the names" %
      (len(files), "1 folder moved" if whole else "%d files moved" % len(moves)))
os.unlink(order)
