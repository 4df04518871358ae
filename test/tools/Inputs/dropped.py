#!/usr/bin/env python3
"""`mille generate --drop-oldest` beside runs that are given what is left.

  dropped.py MILLE PACKAGE ids ROOM OPTION...    each id of an answer longer than ROOM
  dropped.py MILLE PACKAGE chat ROOM TURN...     each answer of a chat
"""
import json
import os
import re
import subprocess
import sys
import tempfile

mille, package, kind, room, *rest = sys.argv[1:]
room = int(room)


def generate(*options, **how):
    return subprocess.run([mille, "generate", package, "--temperature=0", *options],
                          capture_output=True, text=True, check=True, **how)


def checkIds():
    told = generate("--ids=1,2,3", "--json", "--max-tokens=20", "--drop-oldest",
                    f"--context={room}", *rest)
    answer = [json.loads(line)["id"] for line in told.stdout.splitlines()]
    assert len(answer) == 20, answer
    held, drops = [1, 2, 3], 0
    for number, chosen in enumerate(answer):
        one = generate("--ids=" + ",".join(map(str, held)), "--max-tokens=1")
        assert int(one.stdout) == chosen, (number, held, chosen, one.stdout)
        if len(held) == room:
            held = held[:1] + held[1 + room // 2:]
            drops += 1
        held.append(chosen)
    print(f"{len(answer)} ids behind what {drops} times was left")


def checkChat():
    said = generate("--chat", "--system=s", "--max-tokens=3", "--drop-oldest",
                    f"--context={room}", input="".join(turn + "\n" for turn in rest))
    lines = said.stdout.split("\n")[:-1]
    assert len(lines) == len(rest), lines
    messages, drops = [{"role": "system", "content": "s"}], 0
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "messages.json")
        for turn, line in zip(rest, lines):
            messages.append({"role": "user", "content": turn})
            while True:
                with open(file, "w") as out:
                    json.dump({"messages": messages}, out)
                whole = generate("--messages", file, "--max-tokens=3", "--stats")
                size = int(re.search(r"prompt (\d+) tokens", whole.stderr)[1])
                if size < room:
                    break
                del messages[1:3]
                drops += 1
            assert size + 2 <= room, "the answer would drop tokens of its own"
            assert whole.stdout == line + "\n", (whole.stdout, line)
            messages.append({"role": "assistant", "content": line})
    print(f"{len(lines)} answers, before which {drops} turns went")


checkIds() if kind == "ids" else checkChat()
