"""mapped.py PACKAGE MILLE ARGUMENT...: starts a chat, waits for its first answer
and says what the process holds then: the files that it maps, and the memory
beside the package's weights."""
import os
import re
import subprocess
import sys

package, *command = sys.argv[1:]
chat = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
chat.stdin.write(b"abc\n")
chat.stdin.flush()
chat.stdout.readline()
with open(f"/proc/{chat.pid}/smaps") as file:
    lines = file.read().splitlines()
chat.stdin.close()
if chat.wait():
    sys.exit(f"mapped: the chat ended with {chat.returncode}")

resident, path = {}, ""
for line in lines:
    if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
        path = (line.split(None, 5) + [""])[5]
    elif line.startswith("Rss:"):
        resident[path] = resident.get(path, 0) + int(line.split()[1])
for path in sorted(resident):
    if path.startswith("/"):
        print("maps", os.path.basename(path))
weights = sum(size for path, size in resident.items() if path.endswith(".weights"))
print(f"beside weights {(sum(resident.values()) - weights + 1023) // 1024} MB")
