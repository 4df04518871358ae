#!/usr/bin/env python3
"""chats.py MILLE PACKAGE ANSWERS FILE TURN... -- OPTION...: each line of ANSWERS beside
`mille generate --messages` of the conversation up to it, with these options."""
import json
import subprocess
import sys

end = sys.argv.index("--")
mille, package, answers, file, *turns = sys.argv[1:end]
with open(answers) as given:
    lines = given.read().split("\n")[:-1]
assert len(lines) == len(turns), lines
messages = []
for turn, line in zip(turns, lines):
    messages.append({"role": "user", "content": turn})
    with open(file, "w") as out:
        json.dump({"messages": messages}, out)
    expected = subprocess.run([mille, "generate", package, "--messages", file,
                               "--temperature=0", *sys.argv[end + 1:]],
                              capture_output=True, text=True, check=True).stdout
    assert expected == line + "\n", (expected, line)
    messages.append({"role": "assistant", "content": line})
print(len(lines), "answers are those of --messages")
