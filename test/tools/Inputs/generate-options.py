#!/usr/bin/env python3
"""generate-options.py MILLE PACKAGE WORK: what options of `mille generate` do to the ids of
a package with the entries next and extend."""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                *[os.pardir] * 2, "Inputs"))
import tensors

mille, package, work = sys.argv[1:]
count = 0


def lines(*options, most=16):
    global count
    count += 1
    ran = subprocess.run([mille, "generate", package, "--ids=1,2,3", "--json",
                          f"--max-tokens={most}", *options], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def ids(*options, most=16):
    return [line["id"] for line in lines(*options, most=most)]


greedy = lines("--temperature=0", "--logprobs=3")
plain = [line["id"] for line in greedy]
for line in greedy:
    likeliest = line["likeliest"]
    assert line["id"] == likeliest[0]["id"]
    assert line["logprob"] == likeliest[0]["logprob"] < 0
    assert sorted((-one["logprob"], one["id"]) for one in likeliest) == \
        [(-one["logprob"], one["id"]) for one in likeliest]
    assert sum(math.exp(one["logprob"]) for one in likeliest) < 1
(first,) = lines("--temperature=0", "--logprobs=1000", most=1)
assert abs(sum(math.exp(one["logprob"]) for one in first["likeliest"]) - 1) < 1e-6
(alone,) = lines("--temperature=0", "--logprobs", most=1)
assert alone["logprob"] == first["logprob"] and "likeliest" not in alone
file = os.path.join(work, "logits.safetensors")
assert ids("--temperature=0", "--logits=" + file, "--speculate=ngram") == plain
held = tensors.load(file)
assert list(held["ids"][1]) == plain
(rows, columns), logits, _ = held["logits"]
assert rows == len(plain)
for place, line in enumerate(greedy):
    row = logits[place * columns:(place + 1) * columns]
    total = math.log(sum(math.exp(logit - max(row)) for logit in row)) + max(row)
    for one in line["likeliest"]:
        assert abs(row[one["id"]] - total - one["logprob"]) < 1e-5
banned = plain[0]
assert banned not in ids("--temperature=0", f"--logit-bias={banned}:-inf")
assert ids("--temperature=0", "--logit-bias=5:1e6", most=3) == [5, 5, 5]
for option in ("--presence-penalty=100", "--repeat-penalty=1000",
               "--frequency-penalty=100"):
    own = ids("--temperature=0", option)
    assert len(set(own)) == len(own) and not set(own) & {1, 2, 3}, (option, own)
again = ids("--temperature=0", "--presence-penalty=100", "--repeat-last=1")
assert all(a != b for a, b in zip(again, again[1:])) and len(set(again)) < len(again)
drawn = ids("--temperature=2", "--seed=3")
for options, expected in ((("--temperature=0",), plain),
                          (("--temperature=2", "--seed=3"), drawn)):
    assert ids(*options, "--speculate=ngram", "--threads=2") == expected
    assert ids(*options, f"--draft={package}", "--guesses=3") == expected
assert ids("--temperature=2", "--seed=3", "--typical=0.01") != drawn
print(count, "runs do what their options say")
