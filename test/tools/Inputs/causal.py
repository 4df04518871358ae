"""A causal stack as a native spec, and tokens of a Markov chain to train it on: 64
states, each with four equally likely successors, so that the best loss is ln 4 = 1.386
and who ignores what came before has about 4.0.

usage: causal.py spec FILE LAYERS post|deepnorm [KEY=VALUE of train ...]
       causal.py data FILE COUNT
       causal.py begins CHECKPOINT WEIGHTS    its parameters have these bits
       causal.py break WEIGHTS NAME   makes the numbers of a tensor 1e38
       causal.py last LOG         the last loss of a training's log
       causal.py below LOG MOST   the mean of its last ten losses is below MOST
       causal.py above LOG LEAST
       causal.py apart LOG LOG LEAST MOST    the largest difference of their losses
"""
import json
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))
sys.dont_write_bytecode = True
import tensors  # noqa: E402


def spec(path, layers, scheme, *train):
    norm = {"out_norm": {"kind": "layer_norm"}}
    if scheme == "deepnorm":
        norm["skip_scale"] = {"kind": "const", "formula": "(2*layers)^(1/4)"}
    biases = {"q": True, "k": True, "v": True, "o": True, "in": True, "out": True}
    attention = {"kind": "attention", "heads": 4, "mask": "causal",
                 "bias": {key: biases[key] for key in "qkvo"}}
    ffn = {"kind": "ffn", "intermediate_size": 256, "act": "gelu_erf",
           "bias": {key: biases[key] for key in ("in", "out")}}
    recipe = {"optimizer": "adam", "rate": 0.001}
    for entry in train:
        key, value = entry.split("=", 1)
        recipe[key] = value if key in ("optimizer", "schedule") else json.loads(value)
    with open(path, "w") as file:
        json.dump({"layers": int(layers), "hidden_size": 64, "vocab_size": 64,
                   "embedding": {"position": "learned", "position_size": 16},
                   "units": [dict(norm, branches=[attention]), dict(norm, branches=[ffn])],
                   "head": {"tied": False},
                   "init": {"scheme": "deepnorm" if scheme == "deepnorm" else "xavier",
                            "seed": 1},
                   "train": recipe}, file)


def data(path, count):
    fixed, draw = random.Random(7), random.Random(1)
    table = [fixed.sample(range(64), 4) for _ in range(64)]
    state, tokens = 0, []
    for _ in range(int(count)):
        state = draw.choice(table[state])
        tokens.append(state)
    with open(path, "wb") as file:
        file.write(struct.pack("<%dH" % len(tokens), *tokens))


def bits(path):
    return {name: data for name, (_, _, data) in tensors.load(path).items()}


def losses(log):
    with open(log) as file:
        lines = [json.loads(line) for line in file]
    return [line["loss"] for line in lines if "loss" in line]


def mean(log):
    last = losses(log)[-10:]
    return sum(last) / len(last)


def main(word, path, *rest):
    if word == "spec":
        spec(path, *rest)
    elif word == "data":
        data(path, *rest)
    elif word == "begins":
        saved, drawn = bits(path), bits(rest[0])
        other = [name for name in drawn if saved.get(name) != drawn[name]]
        other += [name for name in saved
                  if name not in drawn and not name.startswith("state.")]
        if other or not drawn:
            sys.exit("other bits: %s" % ", ".join(other))
    elif word == "break":
        with open(path, "r+b") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            begin, end = json.loads(file.read(length))[rest[0]]["data_offsets"]
            file.seek(8 + length + begin)
            file.write(struct.pack("<f", 1e38) * ((end - begin) // 4))
    elif word == "last":
        print(losses(path)[-1])
    elif word == "apart":
        other, least, most = losses(rest[0]), float(rest[1]), float(rest[2])
        mine = losses(path)
        worst = max(abs(a - b) for a, b in zip(mine, other))
        if len(mine) != len(other) or not least <= worst <= most:
            sys.exit("%d and %d losses are %g apart" % (len(mine), len(other), worst))
    else:
        found, limit = mean(path), float(rest[0])
        if not (found < limit if word == "below" else found > limit):
            sys.exit("the loss is %.4f, not %s %g" % (found, word, limit))


main(*sys.argv[1:])
