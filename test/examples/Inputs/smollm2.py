#!/usr/bin/env python3
"""SmolLM2-135M-Instruct beside what a llama.cpp said of the same numbers in F32.

  smollm2.py check MILLE PACKAGE MARGIN ERROR PROMPTS ANSWERS.json WORK
  smollm2.py make MILLE PACKAGE WIDE.gguf > ANSWERS.json        (needs llama.cpp)

`check`: the entry extend reads llama.cpp's greedy text of each prompt in one run. After
each token of it whose next two differ by more than MARGIN of the largest logit, the
likeliest is llama.cpp's; of the logits that are written down, the root of the mean square
of what differs is at most ERROR, of that of their own. Of the first PROMPTS prompts, text
that is generated token by token is what extend says of it. `make` writes the answers down,
with a package in f32 that agrees: tools/check-generate.sh.
"""
import array
import itertools
import json
import os
import subprocess
import sys

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      os.pardir, os.pardir, "Inputs")
sys.path.insert(0, INPUTS)
import tensors
from prompts import PROMPTS, encoded, greedy, lines

TOKENS = 64
STEP, SAMPLES = 4, 8  # of each STEP-th token so many logits are written down


def samples(place, words):
    """Which logits of a place are written down."""
    return [(place * 7919 + number * 6287) % words for number in range(SAMPLES)]


def text_of_peer(model, mille, package, start):
    """llama.cpp's greedy text, and its logits: ours, until it says otherwise."""
    ids = []
    while True:
        said = lines(mille, "generate", package, "--json", "--temperature=0",
                     "--ids=" + ",".join(map(str, start + ids)),
                     f"--max-tokens={TOKENS - len(ids)}")
        ids += [json.loads(line)["id"] for line in said]
        rows = model.logits(start + ids[:-1])[len(start) - 1:]
        other = [n for n, row in enumerate(rows) if row.argmax() != ids[n]]
        if not other:
            return ids, rows
        ids[other[0]:] = [int(rows[other[0]].argmax())]
        if len(ids) == TOKENS:
            return ids, rows


def make(mille, package, wide):
    import llamacpp
    import numpy as np
    model, answers = llamacpp.Model(wide), []
    for prompt in PROMPTS:
        start = encoded(mille, package, prompt)
        ids, rows = text_of_peer(model, mille, package, start)
        gaps, logits = [], []
        for place, row in enumerate(rows):
            second, first = np.sort(row)[-2:]
            gaps.append(float(f"{(first - second) / np.abs(row).max():.2g}"))
            if place % STEP == 0:
                logits += [round(float(row[word]), 3)
                           for word in samples(place, len(row))]
        answers.append({"prompt": prompt, "ids": ids, "gaps": gaps, "logits": logits})
    json.dump(answers, sys.stdout)


def extend(mille, package, texts, work):
    """Of each text a memory of f32: its tokens' logits, and the vocabulary's size."""
    files = [os.path.join(work, name) for name in ("in.safetensors", "out.safetensors")]
    most = max(map(len, texts))

    def ints(rows):
        flat = array.array("q", itertools.chain.from_iterable(
            row + [0] * (most - len(row)) for row in rows))
        return "I64", [len(texts), most], flat.tobytes()

    tensors.save(files[0], {"input_ids": ints(texts),
                            "attention_mask": ints([[1] * len(text) for text in texts])})
    subprocess.run([mille, "run", package, "--entry=extend", f"--context={most}",
                    "--inputs", files[0], "--outputs", files[1], "--only=logits"],
                   check=True)
    shape, _, data = tensors.load(files[1])["logits"]
    size = 4 * most * shape[-1]
    return shape[-1], [memoryview(data)[size * number:size * (number + 1)].cast("f")
                       for number in range(len(texts))]


def likeliest(row):
    return row.index(max(row))


def check(mille, package, margin, error, prompts, answers, work):
    with open(answers) as file:
        known = json.load(file)
    starts = [encoded(mille, package, answer["prompt"]) for answer in known]
    words, found = extend(mille, package, [start + answer["ids"][:-1] for start, answer
                                           in zip(starts, known)], work)
    sure, own, other, same, decoded = 0, 0.0, 0.0, 0, 0
    for number, (start, answer, logits) in enumerate(zip(starts, known, found)):
        wanted, first = iter(answer["logits"]), []
        for place, (id, gap) in enumerate(zip(answer["ids"], answer["gaps"])):
            at = (len(start) - 1 + place) * words
            row = array.array("f", logits[at:at + words].tobytes())
            first.append(likeliest(row))
            if gap > margin and first[-1] != id:
                sys.exit(f"{answer['prompt']!r}: token {place} is {first[-1]} but must be "
                         f"{id}: the next is {gap} of the largest logit below")
            sure += gap > margin
            for word in samples(place, words) if place % STEP == 0 else []:
                want = next(wanted)
                own += want * want
                other += (row[word] - want) ** 2
        if number < prompts:
            decoded += same_text(mille, package, answer, first)
            same += 1
    found = (other / own) ** 0.5
    if not found <= error:
        sys.exit(f"logits differ from llama.cpp's by {found:.5f} of their size, but may by "
                 f"{error}")
    print(f"{len(known)} texts, {sure} tokens are llama.cpp's; logits differ by "
          f"{found:.3g} of their size")
    print(f"{decoded} tokens of {same} texts, token by token, are those of one run")


def same_text(mille, package, answer, first):
    """How many tokens are generated as `first` has them, which has read answer's."""
    ids = greedy(mille, package, answer["prompt"], TOKENS)
    for place, id in enumerate(first):
        if place >= len(ids) or ids[place] != id:
            sys.exit(f"{answer['prompt']!r}: token {place} is generated as "
                     f"{ids[place:place + 1]} but is {id} in one run")
        if id != answer["ids"][place]:
            break  # what is generated then is of another text
    return place + 1


if sys.argv[1] == "make":
    make(*sys.argv[2:])
else:
    tool, package, margin, error, prompts, answers, work = sys.argv[2:]
    check(tool, package, float(margin), float(error), int(prompts), answers, work)
