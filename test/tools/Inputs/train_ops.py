"""Small models of the operations that training covers, with data that they can learn.

usage: train_ops.py make                writes NAME.json and NAME.data for each
       train_ops.py falls LOG SHARE     the last loss is below that share of the first
       train_ops.py above LOG OTHER BY the first loss of LOG is above that of OTHER, by BY to
                                       three times that
       train_ops.py same|differs FILE FILE NAME    a tensor of two checkpoints

They have the widths of causal.py's, so that they share its kernels of matmuls.
"""
import json
import math
import random
import struct
import sys

LAYER, RMS = {"kind": "layer_norm"}, {"kind": "rms_norm", "affine": "one_plus_weight"}
BIAS = {key: True for key in "qkvo"}


def attention(mask, **more):
    return dict({"kind": "attention", "heads": 4, "mask": mask, "bias": BIAS}, **more)


def ffn(**more):
    return dict({"kind": "ffn", "intermediate_size": 256, "act": "gelu_erf",
                 "bias": {"in": True, "out": True}}, **more)


def stack(units, position=True):
    made = {"layers": 2, "hidden_size": 64, "vocab_size": 64, "units": units}
    if position:
        made["embedding"] = {"position": "learned", "position_size": 16}
    return made


def unit(branch, **slots):
    return dict(slots, branches=[branch])


def model(stacks, scheme="xavier", **train):
    return dict(stacks, head={"tied": False}, init={"scheme": scheme, "seed": 1},
                train=dict({"optimizer": "adam", "rate": 0.002}, **train))


SCALAR = {"branch_scale": {"kind": "learned_scalar", "init": 0.5}}
CHANGED = {"branch_scale": {"kind": "scheduled", "from": 0, "to": 1, "steps": 4}}
TABLE = {"buckets": 8, "max_distance": 16}
MODELS = {
    # ALiBi, sinks, scales of one number, dropout, label smoothing.
    "alibi": model(stack([unit(attention("causal", position_bias="alibi", sink="learned"),
                               **SCALAR), unit(ffn(), **SCALAR)], position=False),
                   dropout=0.1, label_smoothing=0.1),
    # Tables of biases by distance, chunks, 1 + weight, scales by step.
    "table": model(dict(stack([unit(attention("causal", position_bias=TABLE, chunk=8),
                                    in_norm=RMS), unit(ffn(), in_norm=RMS, **CHANGED)],
                              position=False),
                        final_norm=RMS)),
    # Experts with biases, of which a token takes two, beside one that all take.
    "experts": model(stack([unit(attention("causal"), in_norm=LAYER),
                            unit(ffn(gated="glu", experts={
                                "count": 5, "chosen": 2, "renorm": "sum",
                                "score": "sigmoid", "selection_bias": True,
                                "router_bias": True, "shared_size": 64,
                                "shared_gate": True}), in_norm=LAYER)]),
                     accumulate=4),
    # The loss that balances experts, whose gate is without a bias.
    "balanced": model(stack([unit(attention("causal"), in_norm=LAYER),
                             unit(ffn(gated="glu", experts={
                                 "count": 5, "chosen": 2, "renorm": "sum",
                                 "router_bias": True, "shared_size": 64,
                                 "shared_gate": True}), in_norm=LAYER)]),
                      expert_balance=0.5),
    # An encoder beside a decoder.
    "twins": model({"encoder": stack([unit(attention("bidirectional"), out_norm=LAYER),
                                      unit(ffn(), out_norm=LAYER)]),
                    "decoder": stack([unit(attention("causal"), out_norm=LAYER),
                                      unit(attention("cross", name="cross"),
                                           out_norm=LAYER),
                                      unit(ffn(), out_norm=LAYER)])}),
}


def tensors(path, **shapes):
    """Whole numbers below 60, of pixels their tenths."""
    draw, header, body = random.Random(3), {}, b""
    for name, shape in shapes.items():
        count = math.prod(shape)
        numbers = [draw.randrange(60) for _ in range(count)]
        if name == "classes":
            name, numbers = "labels", [number % 5 for number in numbers]
        real = name == "pixel_values"
        if real:
            numbers = [number / 10 for number in numbers]
        header[name] = {"dtype": "F32" if real else "I32", "shape": shape,
                        "data_offsets": [len(body), len(body) + 4 * count]}
        body += struct.pack("<%d%s" % (count, "f" if real else "i"), *numbers)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def make():
    for name, spec in MODELS.items():
        with open(name + ".json", "w") as file:
            json.dump(dict(spec, name=name), file)
    for name in ("alibi", "table", "experts", "balanced"):
        tensors(name + ".data", input_ids=[16, 16])
    tensors("twins.data", input_ids=[16, 16], decoder_input_ids=[16, 12])
    tensors("pooled.data", input_ids=[16, 16], classes=[16])
    tensors("windows.data", pixel_values=[16, 3, 16, 16], classes=[16])


def tensor(path, name):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    begin, end = json.loads(data[8:8 + length])[name]["data_offsets"]
    return data[8 + length + begin:8 + length + end]


def main(word, *rest):
    if word == "make":
        make()
    elif word == "above":
        first = [json.loads(open(path).readline())["loss"] for path in rest[:2]]
        if not 1 <= (first[0] - first[1]) / float(rest[2]) <= 3:
            sys.exit("the losses are %.4f and %.4f" % tuple(first))
    elif word == "falls":
        with open(rest[0]) as file:
            losses = [json.loads(line)["loss"] for line in file]
        if not losses[-1] < float(rest[1]) * losses[0]:
            sys.exit("the loss goes from %.4f to %.4f" % (losses[0], losses[-1]))
    elif (tensor(rest[0], rest[2]) == tensor(rest[1], rest[2])) != (word == "same"):
        sys.exit("%s is not %s" % (rest[2], word))


main(*sys.argv[1:])
