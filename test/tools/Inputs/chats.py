#!/usr/bin/env python3
"""chats.py MILLE PACKAGE ANSWERS FILE TURN...: the lines of `mille generate --chat`
beside those of --messages with the conversation up to each answer."""
import json
import subprocess
import sys

mille, package, answers, file, *turns = sys.argv[1:]
with open(answers) as given:
    lines = given.read().split("\n")[:-1]
assert len(lines) == len(turns), lines
messages = []
for turn, line in zip(turns, lines):
    messages.append({"role": "user", "content": turn})
    with open(file, "w") as out:
        json.dump({"messages": messages}, out)
    expected = subprocess.run([mille, "generate", package, "--messages", file,
                               "--temperature=0", "--max-tokens=9"],
                              capture_output=True, text=True, check=True).stdout
    assert expected == line + "\n", (expected, line)
    messages.append({"role": "assistant", "content": line})
print(len(lines), "answers are those of --messages")
