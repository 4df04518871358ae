#!/usr/bin/env python3
"""`mille generate --drop-oldest` beside runs that are given what is left.

  dropped.py MILLE PACKAGE ids ROOM OPTION...    each id of an answer longer than ROOM
  dropped.py MILLE PACKAGE draws ROOM OPTION...  what is drawn does not repeat itself
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
VOCABULARY = 64


def generate(*options, temperature=0, **how):
    return subprocess.run(
        [mille, "generate", package, f"--temperature={temperature}", *options],
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


def checkDraws():
    """So hot that only the random number and the biases' order choose an id: as
    many tokens behind each drop as stay, the numbers would be the same again."""
    order = [f"--logit-bias={id}:{1000 * id}" for id in range(VOCABULARY)]
    told = generate("--ids=1,2,3", "--seed=5", "--max-tokens=40", "--drop-oldest",
                    f"--context={room}", *order, *rest, temperature=1e6)
    answer = list(map(int, told.stdout.split(",")))
    assert len(answer) == 40, answer
    period = room // 2
    same = sum(a == b for a, b in zip(answer[room:], answer[room + period:]))
    print(f"{same} of {40 - room - period} draws are those before a drop")


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


{"ids": checkIds, "draws": checkDraws, "chat": checkChat}[kind]()
