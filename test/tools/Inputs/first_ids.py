#!/usr/bin/env python3
"""What a decoder begins with stays where the context is full: the next token's
probability is that of a run that begins with the ids which must be left.

  first_ids.py MILLE PACKAGE"""
import json
import subprocess
import sys

MILLE, PACKAGE = sys.argv[1:]
BEGIN, CONTEXT = [2, 7, 21, 40], 8


def said(begin, *options):
    ran = subprocess.run(
        [MILLE, "generate", PACKAGE, "--ids=4,9,11", "--json", "--logprobs=1",
         "--seed=5", "--temperature=0.7",
         "--begin=" + ",".join(map(str, begin)), *options],
        capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


tokens = said(BEGIN, f"--context={CONTEXT}", "--max-tokens=9", "--drop-oldest")
ids = [token["id"] for token in tokens]
room = CONTEXT - len(BEGIN)  # tokens, of which the newer half is left
left = BEGIN + ids[(room + 1) // 2:room + 1]
found = tokens[room + 1]["likeliest"]
wanted = said(left, "--max-tokens=4")[0]["likeliest"]
assert found == wanted, (left, found, wanted)
print(f"{len(left)} ids are left")
