"""Models whose losses are not the usual: a vocabulary of which no step holds all logits,
and labels that are numbers.

usage: losses.py make CLASSIFIER    writes wide.json, parts.json, values.json, score/,
                                    several/, and wide.data, values.data, score.data,
                                    several.data, score.ids
       losses.py squared|yes OUTPUTS DATA LOG    the first loss is the mean of (logits -
                                    labels)^2, or of the cross-entropy of yes and no

wide has the widths of causal.py but for its vocabulary; score is the model CLASSIFIER with
one class, whose labels are numbers, several with classes of which a text may have any;
values has a label for each logit.
"""
import array
import json
import math
import os
import random
import struct
import sys

SEQUENCES, TOKENS = 48, 16


def write(path, tensors):
    """tensors: name -> (type, shape, bytes)"""
    header, body = {}, b""
    for name, (kind, shape, numbers) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape,
                        "data_offsets": [len(body), len(body) + len(numbers)]}
        body += numbers
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def read(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, body = json.loads(file.read(length)), file.read()
    header.pop("__metadata__", None)
    return {name: (one["dtype"], one["shape"], body[slice(*one["data_offsets"])])
            for name, one in header.items()}


def spec(vocabulary, **train):
    norm = {"out_norm": {"kind": "layer_norm"}}
    bias = {key: True for key in "qkvo"}
    attention = {"kind": "attention", "heads": 4, "mask": "causal", "bias": bias}
    ffn = {"kind": "ffn", "intermediate_size": 256, "act": "gelu_erf",
           "bias": {"in": True, "out": True}}
    return {"name": "m", "layers": 2, "hidden_size": 64, "vocab_size": vocabulary,
            "embedding": {"position": "learned", "position_size": TOKENS},
            "units": [dict(norm, branches=[attention]), dict(norm, branches=[ffn])],
            "head": {"tied": False}, "init": {"scheme": "xavier", "seed": 1},
            "train": dict({"optimizer": "adam", "rate": 0.002}, **train)}


def whole(draw, count, below):
    return array.array("i", [draw.randrange(below) for _ in range(count)]).tobytes()


def real(draw, count):
    return array.array("f", [draw.uniform(-1, 1) for _ in range(count)]).tobytes()


def make(classifier):
    draw = random.Random(5)
    for name, made in (("wide", spec(1100)), ("parts", spec(1100, accumulate=3)),
                       ("values", spec(64, loss="mean_squared_error"))):
        with open(name + ".json", "w") as file:
            json.dump(made, file)
    ids = [SEQUENCES, TOKENS]
    write("wide.data", {"input_ids": ("I32", ids, whole(draw, SEQUENCES * TOKENS, 1100))})
    write("values.data", {
        "input_ids": ("I32", ids, whole(draw, SEQUENCES * TOKENS, 64)),
        "labels": ("F32", ids + [64], real(draw, SEQUENCES * TOKENS * 64))})
    tokens = ("I32", [16, 16], whole(draw, 256, 60))
    write("score.ids", {"input_ids": tokens})
    write("score.data", {"input_ids": tokens, "labels": ("F32", [16], real(draw, 16))})
    yes = array.array("f", [draw.randrange(2) for _ in range(16 * 5)]).tobytes()
    write("several.data", {"input_ids": tokens, "labels": ("F32", [16, 5], yes)})
    weights = read(os.path.join(classifier, "model.safetensors"))
    folder(classifier, "several", weights, problem_type="multi_label_classification")
    for name in ("classifier.out_proj.weight", "classifier.out_proj.bias"):
        kind, shape, numbers = weights[name]
        weights[name] = (kind, [1] + shape[1:], numbers[:len(numbers) // shape[0]])
    folder(classifier, "score", weights, id2label={"0": "LABEL_0"},
           label2id={"LABEL_0": 0})


def folder(classifier, name, weights, **changes):
    os.mkdir(name)
    with open(os.path.join(classifier, "config.json")) as file:
        config = json.load(file)
    config.update(changes)
    with open(os.path.join(name, "config.json"), "w") as file:
        json.dump(config, file)
    write(os.path.join(name, "model.safetensors"), weights)


def floats(tensor):
    numbers = array.array("f")
    numbers.frombytes(tensor[2])
    return numbers


def main(word, *rest):
    if word == "make":
        return make(*rest)
    outputs, labels = floats(read(rest[0])["logits"]), floats(read(rest[1])["labels"])
    with open(rest[2]) as file:
        loss = json.loads(file.readline())["loss"]
    of = (lambda x, y: (x - y) ** 2) if word == "squared" else (
        lambda x, y: math.log(1 + math.exp(x)) - x * y)
    mean = sum(of(x, y) for x, y in zip(outputs, labels)) / len(labels)
    if len(outputs) != len(labels) or abs(loss - mean) > 1e-5 * mean:
        sys.exit("loss %g, mean %g of %d" % (loss, mean, len(labels)))


main(*sys.argv[1:])
