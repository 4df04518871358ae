"""A small masked language model with a tokenizer, and data that it can learn: in a
sequence two words take turns, so that those beside a hidden one tell it.

usage: masked.py make             writes m.json, parts.json, words/m.json, data, eval
       masked.py falls LOG SHARE  the last ten losses are below that share of the first
       masked.py share LOG LEAST MOST TOKENS    the labels of a step
       masked.py evals LOG        evaluations are alike, two epochs of 4 steps are not
       masked.py same LOG LOG     losses and labels
       masked.py cut LOG LOG      as many labels in all; the same evaluation, to 1e-6
"""
import json
import os
import random
import struct
import sys

LAYER = {"out_norm": {"kind": "layer_norm"}}
BIAS = {key: True for key in "qkvo"}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENS, SEQUENCES = 16, 64


def spec(**train):
    attention = {"kind": "attention", "heads": 4, "mask": "bidirectional", "bias": BIAS}
    ffn = {"kind": "ffn", "intermediate_size": 256, "act": "gelu_erf",
           "bias": {"in": True, "out": True}}
    return {"name": "m", "layers": 2, "hidden_size": 64, "vocab_size": 64,
            "embedding": {"position": "learned", "position_size": TOKENS},
            "units": [dict(LAYER, branches=[attention]), dict(LAYER, branches=[ffn])],
            "head": {"tied": False}, "init": {"scheme": "xavier", "seed": 1},
            "train": dict({"optimizer": "adam", "rate": 0.003}, **train)}


def data(path, seed, labels=False):
    """[CLS], words, [SEP], and [UNK] as padding."""
    draw, ids, shown = random.Random(seed), [], []
    for _ in range(SEQUENCES):
        words, pair = draw.randrange(8, TOKENS - 1), draw.sample(range(5, 64), 2)
        row = [2] + [pair[t % 2] for t in range(words)] + [3]
        ids += row + [1] * (TOKENS - len(row))
        shown += [1] * len(row) + [0] * (TOKENS - len(row))
    tensors = {"input_ids": ids, "attention_mask": shown}
    if labels:
        tensors["labels"] = ids
    header, body = {}, b""
    for name, numbers in tensors.items():
        header[name] = {"dtype": "I32", "shape": [SEQUENCES, TOKENS],
                        "data_offsets": [len(body), len(body) + 4 * len(numbers)]}
        body += struct.pack("<%di" % len(numbers), *numbers)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def tokenizer(folder):
    words = SPECIAL + ["w%d" % word for word in range(5, 64)]
    added = [{"id": at, "content": word, "single_word": False, "lstrip": False,
              "rstrip": False, "normalized": False, "special": True}
             for at, word in enumerate(SPECIAL)]
    made = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "normalizer": None, "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": None, "decoder": {"type": "WordPiece", "prefix": "##",
                                                "cleanup": True},
            "model": {"type": "WordPiece", "unk_token": "[UNK]",
                      "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                      "vocab": {word: at for at, word in enumerate(words)}}}
    write(os.path.join(folder, "tokenizer.json"), made)
    write(os.path.join(folder, "tokenizer_config.json"), {"mask_token": "[MASK]"})


def write(path, value):
    with open(path, "w") as file:
        json.dump(value, file)


def make():
    os.mkdir("words")
    write("m.json", spec())
    write("words/m.json", spec())
    write("parts.json", spec(accumulate=4))
    tokenizer("words")
    data("data", 1)
    data("eval", 2)
    data("labels", 1, labels=True)


def lines(path, key):
    with open(path) as file:
        found = [json.loads(line) for line in file]
    return [(line[key], line["labels"]) for line in found if key in line]


def main(word, *rest):
    if word == "make":
        return make()
    steps = lines(rest[0], "loss")
    losses, labels = [step[0] for step in steps], [step[1] for step in steps]
    if word == "falls":
        last = sum(losses[-10:]) / 10
        fine = last < float(rest[1]) * losses[0]
        said = "from %g to %g" % (losses[0], last)
    elif word == "share":
        share = sum(labels) / (len(labels) * float(rest[3]))
        fine, said = float(rest[1]) < share < float(rest[2]), "%g of the tokens" % share
    elif word == "evals":
        evals = lines(rest[0], "eval_loss")
        first, second = sum(labels[:4]), sum(labels[4:])
        fine = len(set(evals)) == 1 < len(evals) and first != second
        said = "%s, %s" % (evals, steps)
    elif word == "cut":
        mine, other = lines(rest[0], "eval_loss")[0], lines(rest[1], "eval_loss")[0]
        fine = (sum(labels) == sum(step[1] for step in lines(rest[1], "loss"))
                and abs(mine[0] - other[0]) < 1e-6 * mine[0] and mine[1] == other[1])
        said = "%s and %s, %d labels" % (mine, other, sum(labels))
    else:
        fine, said = steps == lines(rest[1], "loss"), "losses differ"
    if not fine:
        sys.exit(said)


main(*sys.argv[1:])
