#!/usr/bin/env python3
"""chat.py MILLE PACKAGE CHAT FILE: three turns of a chat beside `mille generate` of the
conversation up to each answer."""
import json
import subprocess
import sys

mille, package, chat, file = sys.argv[1:]
turns = ["abc", "hello there", "z"]
ran = subprocess.run([chat, package + "/chat.weights", package + "/chat.tokens"],
                     input="\n".join(turns) + "\n", capture_output=True, text=True,
                     check=True)
answers = ran.stdout.split("\n")[:-1]
assert len(answers) == len(turns), ran.stdout
messages = []
for turn, answer in zip(turns, answers):
    messages.append({"role": "user", "content": turn})
    with open(file, "w") as out:
        json.dump({"messages": messages}, out)
    expected = subprocess.run([mille, "generate", package, "--messages", file,
                               "--temperature=0", "--max-tokens=256"],
                              capture_output=True, text=True, check=True).stdout
    assert expected == answer + "\n", (expected, answer)
    messages.append({"role": "assistant", "content": answer})
print(len(answers), "answers are those of mille generate")
