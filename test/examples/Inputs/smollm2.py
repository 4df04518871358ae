#!/usr/bin/env python3
"""SmolLM2-135M-Instruct beside what a llama.cpp said of the same numbers in F32.

  smollm2.py check MILLE PACKAGE MARGIN ANSWERS.json [logits WORK]
  smollm2.py make MILLE PACKAGE WIDE.gguf > ANSWERS.json        (needs llama.cpp)

`check`: the greedy text of each prompt is llama.cpp's, up to the first token whose top two
logits differ by MARGIN of the largest or less; with `logits` those of a sentence have a
cosine of 0.9999 with llama.cpp's, token by token. `make` writes down its answers, of a
package in f32 that agrees: tools/check-generate.sh.
"""
import json
import os
import subprocess
import sys

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      os.pardir, os.pardir, "Inputs")
sys.path.insert(0, INPUTS)
from prompts import PROMPTS, encoded, greedy

SENTENCE = [504, 3575, 282, 4649, 314, 260, 2240, 282, 27, 264, 30, 4]
TOKENS, STEP = 64, 191  # of a row of logits each STEP-th is written down


def make(mille, package, wide):
    import llamacpp
    import numpy as np
    model, answers = llamacpp.Model(wide), []
    for prompt in PROMPTS:
        start = encoded(mille, package, prompt)
        ids = greedy(mille, package, prompt, TOKENS)
        rows = model.logits(start + ids[:-1])[len(start) - 1:]
        answer = {"prompt": prompt, "ids": [], "gaps": []}
        for id, row in zip(ids, rows):
            second, first = np.sort(row)[-2:]
            answer["ids"].append(int(row.argmax()))
            answer["gaps"].append(float(f"{(first - second) / np.abs(row).max():.2g}"))
            if row.argmax() != id:
                break  # what it says then is of another text
        answers.append(answer)
    logits = [[round(float(x), 3) for x in row[::STEP]] for row in model.logits(SENTENCE)]
    json.dump({"answers": answers, "logits": logits}, sys.stdout)


def check(mille, package, margin, answers, work=None):
    with open(answers) as file:
        known = json.load(file)
    sure = 0
    for answer in known["answers"]:
        ids = greedy(mille, package, answer["prompt"], TOKENS)
        for number, (id, gap) in enumerate(zip(answer["ids"], answer["gaps"])):
            if gap <= margin:
                break
            if number >= len(ids) or ids[number] != id:
                sys.exit(f"{answer['prompt']!r}: token {number} is {ids[number:][:1]} but "
                         f"must be {id}: the next is {gap} of the largest logit below")
            sure += 1
    print(f"{len(known['answers'])} texts, {sure} tokens are llama.cpp's")
    if work:
        logits(mille, package, known["logits"], work)


def logits(mille, package, wanted, work):
    import tensors
    files = [os.path.join(work, name) for name in ("in.safetensors", "out.safetensors")]
    subprocess.run([sys.executable, os.path.join(INPUTS, "tensors.py"), "make", files[0],
                    f"input_ids:i64:1x{len(SENTENCE)}=" + ",".join(map(str, SENTENCE))],
                   check=True)
    subprocess.run([mille, "run", package, "--inputs", files[0], "--outputs", files[1],
                    "--only=logits"], check=True)
    shape, numbers, _ = tensors.load(files[1])["logits"]
    least = 1.0
    for number, want in enumerate(wanted):
        row = list(numbers[number * shape[-1]:(number + 1) * shape[-1]])[::STEP]
        dot = sum(a * b for a, b in zip(row, want))
        lengths = sum(a * a for a in row) * sum(b * b for b in want)
        least = min(least, dot / lengths ** 0.5)
    if len(wanted) != len(SENTENCE) or not least >= 0.9999:
        sys.exit(f"a token's logits have a cosine of {least} with llama.cpp's")
    print(f"{len(wanted)} tokens' logits have cosines above 0.9999")


if sys.argv[1] == "make":
    make(*sys.argv[2:])
else:
    tool, package, margin, answers, *more = sys.argv[2:]
    check(tool, package, float(margin), answers, more[1] if more else None)
