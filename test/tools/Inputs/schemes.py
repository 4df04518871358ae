"""Sample moments of what `mille init` draws, against each scheme's formula.

  schemes.py MILLE FOLDER

Plain Python. The formulas here are the sources' own, not read from Mille.
"""
import array
import json
import math
import os
import subprocess
import sys

mille, folder = sys.argv[1:]
D, F, LAYERS, VOCAB, HEADS = 128, 512, 6, 256, 2
UNITS = 2 * LAYERS
NORM = {"kind": "layer_norm"}


def const(value):
    return {"kind": "const", "value": value}


def learned(kind):
    return {"kind": kind, "init": 0.5}


def spec(unit=None, attention=None, ffn=None, **changes):
    attention = {"kind": "attention", "heads": HEADS, **(attention or {})}
    ffn = {"kind": "ffn", "intermediate_size": F, "act": "relu", **(ffn or {})}
    unit = {"in_norm": NORM} if unit is None else unit
    return {"layers": LAYERS, "hidden_size": D, "vocab_size": VOCAB,
            "embedding": {"position": "learned", "position_size": 128},
            "units": [{**unit, "branches": [branch]} for branch in (attention, ffn)],
            "final_norm": NORM, "head": {}, **changes}


def post(alpha):
    return {"out_norm": NORM, "skip_scale": const(alpha)}


def xavier(out, into):
    return math.sqrt(2 / (out + into))


def every(value, **others):
    """The same for all matrices, but the roles in `others`."""
    names = "q k v o in out embed position head".split()
    return {name: others.get(name, value) for name in names}


def classic(square, up, down, gain=1.0, felt="v o in out", other=1.0):
    """q..o are square, in is up, out is down; gain where felt."""
    std = {"q": square, "k": square, "v": square, "o": square, "in": up, "out": down}
    std = {n: s * (gain if n in felt.split() else other) for n, s in std.items()}
    return {**std, "embed": D ** -0.5, "position": D ** -0.5, "head": D ** -0.5}


X = (xavier(D, D), xavier(F, D), xavier(D, F))
LECUN = (D ** -0.5, D ** -0.5, F ** -0.5)
HE = tuple(math.sqrt(2) * s for s in LECUN)
DEFAULT = tuple(s / math.sqrt(3) for s in LECUN)
CUT = math.sqrt(0.7737413035)
deep = 1 / math.sqrt(2 * LAYERS)
alpha = (2 * LAYERS) ** 0.25
beta = (8 * LAYERS) ** -0.25
everywhere = "q k v o in out"

# scheme -> spec, deviations, the most that one number may be in deviations
CASES = {
    "bert": (spec(), every(0.02), 7),
    "bert-truncated": (spec(), every(0.02 * CUT), 2 / CUT),
    "gpt2": (spec(), every(0.02, o=0.02 * deep, out=0.02 * deep), 7),
    "llama": (spec(), every(0.02), 7),
    "llama2.c": (spec(), every(0.02, o=0.02 * deep, **{"in": 0.02 * deep}), 7),
    "nanochat": (spec(), every(D ** -0.5, o=0, out=0, embed=1, head=0.001,
                               position=D ** -0.5), None),
    "clip": (spec(), {**every(D ** -0.5 * deep), "o": D ** -0.5, "in": (2 * D) ** -0.5,
                      "embed": 0.02, "position": 0.01, "head": D ** -0.5}, 7),
    "t5": (spec(attention={"logit_scale": {"static": "one"}}),
           {"q": (D * D / HEADS) ** -0.5, "k": D ** -0.5, "v": D ** -0.5,
            "o": D ** -0.5, "in": D ** -0.5, "out": F ** -0.5, "embed": 1,
            "position": D ** -0.5, "head": D ** -0.5}, 7),
    "xavier": (spec(), classic(*X), 7),
    "xavier-uniform": (spec(), classic(*X), None),
    "he": (spec(), classic(*HE), 7),
    "he-uniform": (spec(), classic(*HE), None),
    "lecun": (spec(), classic(*LECUN), 7),
    "lecun-uniform": (spec(), classic(*LECUN), None),
    "lecun-truncated": (spec(), classic(*LECUN), None),
    "ntk": (spec(parametrisation="ntk"), classic(1, 1, 1), 7),
    "roformer-v2": (spec(), {n: s * LAYERS ** -0.5 for n, s in
                             classic(*LECUN).items()}, 2 / CUT),
    "deepnorm": (spec(post(alpha)), classic(*X, gain=beta), 7),
    "deepnorm-torchscale": (spec(post(alpha)), classic(*DEFAULT, gain=beta), None),
    "su-sgd": (spec(post(UNITS ** 0.25)),
               classic(*X, gain=UNITS ** -0.25, felt=everywhere), 7),
    "su-adam": (spec(post(UNITS ** 0.5)),
                classic(*X, gain=UNITS ** -0.5, felt=everywhere), 7),
    "su-lamb": (spec(), classic(*X, gain=UNITS ** -0.5, felt=everywhere), 7),
    "magneto": (spec(attention={"inner_norm": NORM}, ffn={"inner_norm": NORM}),
                classic(*X, gain=math.sqrt(math.log(2 * LAYERS))), 7),
    "fixup": (spec({"branch_scale": learned("learned_scalar")},
                   {"input_shift": True}, {"input_shift": True}),
              {**classic(*X, gain=UNITS ** (-1 / 6), felt="q k v"), "o": 0, "out": 0,
               "in": X[1] * UNITS ** -0.5, "branch_scale": 1}, 7),
    "rezero": (spec({"branch_scale": learned("learned_scalar")}),
               {**classic(*X), "branch_scale": 0}, 7),
    "skipinit": (spec({"branch_scale": learned("learned_scalar")}),
                 {**classic(*X), "branch_scale": 0}, 7),
    "layerscale": (spec({"in_norm": NORM, "branch_scale": learned("learned_channel")}),
                   {**every(0.02), "branch_scale": 0.1}, 7),
    "timm-swinv2": (spec({"branch_norm": NORM}),
                    {**every(0.02), "branch_norm": 0}, 7),
}
# The same schemes on other placements.
MORE = [
    ("su-sgd", spec(), classic(*X, gain=UNITS ** -0.5, felt=everywhere)),
    ("su-adam", spec(), classic(*X, gain=UNITS ** -1, felt=everywhere)),
    ("su-lamb", spec(post(1.0)), classic(*X, gain=UNITS ** -0.5, felt=everywhere)),
    ("su-sgd", spec({"branch_norm": NORM, "branch_scale": const(UNITS ** -0.5)}),
     classic(*X)),
    ("su-adam", spec({"branch_norm": NORM, "branch_scale": learned("learned_scalar")}),
     {**classic(*X), "branch_scale": 1 / UNITS}),
    ("deepnorm", spec({"in_norm": NORM, "residual_tap": "normed",
                       "skip_scale": const(alpha)}), classic(*X, gain=beta)),
]


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        start = file.tell()
        header.pop("__metadata__")
        tensors = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            numbers = array.array("f")
            file.seek(start + begin)
            numbers.frombytes(file.read(end - begin))
            tensors[name] = numbers
    return tensors


def init(scheme, model, name="spec", seed=7, *more):
    path = os.path.join(folder, name)
    with open(path + ".json", "w") as file:
        json.dump(model, file)
    subprocess.run([mille, "init", path + ".json", "-o", path + ".safetensors",
                    "--scheme=" + scheme, "--seed=%d" % seed, *more], check=True,
                   stdout=subprocess.DEVNULL)
    return load(path + ".safetensors")


def expect(what, is_, should, tolerance):
    assert abs(is_ - should) <= tolerance, "%s is %r but should be %r +- %r" % (
        what, is_, should, tolerance)


def moments(scheme, what, numbers, std, most):
    n = len(numbers)
    mean, second = math.fsum(numbers) / n, math.fsum(x * x for x in numbers) / n
    # Five deviations of a sample of n normals, and what f32 rounds.
    room = 5 * std / math.sqrt(2 * n) + 1e-7 * std
    expect(scheme + " deviation of " + what, math.sqrt(second), std, room)
    expect(scheme + " mean of " + what, mean, 0, 5 * std / math.sqrt(n))
    if most and std:
        expect(scheme + " largest of " + what, max(map(abs, numbers)), 0, most * std)
    return n


WHERE = {"embed": "embed.weight", "position": "position.weight",
         "head": "head.weight",
         "in": "layers.%d.ffn.in.weight", "out": "layers.%d.ffn.out.weight",
         **{n: "layers.%d.attn." + n + ".weight" for n in "qkvo"}}


def check(scheme, model, deviations, most=7):
    tensors, drawn = init(scheme, model), 0
    for role, std in deviations.items():
        if role in ("branch_scale", "branch_norm"):
            end = role + (".weight" if role == "branch_norm" else "")
            found = [t for n, t in tensors.items() if n.endswith(end)]
            assert found
            for numbers in found:
                for number in numbers:
                    expect(scheme + " " + role, number, std, 1e-7 * std)
            continue
        where = WHERE[role]
        layers = (0, LAYERS - 1) if "%" in where else (None,)
        for layer in layers:
            name = where if layer is None else where % layer
            uniform = scheme in ("deepnorm-torchscale",) or "uniform" in scheme
            drawn += moments(scheme, name, tensors[name], std,
                             math.sqrt(3) * (1 + 1e-6) if uniform and layer is not None
                             else most)
    return drawn


total = sum(check(s, m, d, most) for s, (m, d, most) in CASES.items())
total += sum(check(s, m, d) for s, m, d in MORE)
print("%d schemes, %d placements more, %d numbers" % (len(CASES), len(MORE), total))

# Depth by stack: encoder-decoder constants, of the paper, torchscale and Magneto.
N, M = 3, 2


def both(encoder, decoder, inner=None):
    """A stack of each; cross attention in the decoder's."""
    def stack(layers, unit, cross):
        branches = [{"kind": "attention", "heads": HEADS, **(inner or {})},
                    {"kind": "ffn", "intermediate_size": F, "act": "relu", **(inner or {})}]
        if cross:
            branches.insert(1, {"kind": "attention", "name": "cross", "heads": HEADS,
                                "mask": "cross"})
        return {"layers": layers, "hidden_size": D, "vocab_size": 32,
                "units": [{**unit, "branches": [b]} for b in branches],
                "final_norm": NORM}
    return {"encoder": stack(N, encoder, False), "decoder": stack(M, decoder, True)}


enc, dec = post(0.81 * (N ** 4 * M) ** (1 / 16)), post((3 * M) ** 0.25)
pre = {"in_norm": NORM}
for scheme, model, base, gains in [
        ("deepnorm", both(enc, dec), X,
         (0.87 * (N ** 4 * M) ** (-1 / 16), (12 * M) ** -0.25, (12 * M) ** -0.25)),
        ("deepnorm-torchscale", both(enc, dec), DEFAULT,
         (1.15 * (N ** 4 * M) ** (-1 / 16), (12 * M) ** -0.25, (12 * M) ** -0.25)),
        ("magneto", both(pre, pre, {"inner_norm": NORM}), X,
         (math.sqrt(math.log(3 * M) * math.log(2 * N) / 3), math.sqrt(math.log(3 * M)), 1))]:
    tensors = init(scheme, model)
    for where, gain in zip(("encoder.layers.0.attn", "decoder.layers.0.attn",
                            "decoder.layers.0.cross"), gains):
        for role, factor in (("q", 1), ("k", 1), ("v", gain), ("o", gain)):
            name = "%s.%s.weight" % (where, role)
            moments(scheme, name, tensors[name], base[0] * factor, None)
print("encoder-decoder constants")

# Slip E3: torchscale scales biases with their linears; q's and k's keep theirs.
biased = spec(post(alpha), {"bias": dict.fromkeys("qkvo", True)})
tensors = init("deepnorm-torchscale", biased, "spec", 3)
for role, gain in (("q", 1), ("k", 1), ("v", beta), ("o", beta)):
    numbers = [x for l in range(LAYERS) for x in tensors["layers.%d.attn.%s.bias" % (l, role)]]
    moments("torchscale", role + " biases", numbers, DEFAULT[0] * gain, None)
    assert max(map(abs, numbers)) <= DEFAULT[0] * gain * 1.7320509
assert not any(init("deepnorm", biased)["layers.0.attn.v.bias"])
print("biases")

# LayerScale's start by depth (CaiT).
for layers, start in ((18, 0.1), (19, 1e-5), (24, 1e-5), (25, 1e-6)):
    model = dict(CASES["layerscale"][0], layers=layers)
    scale = init("layerscale", model)["layers.0.attn.branch_scale"]
    assert len(scale) == D and abs(scale[0] / start - 1) < 1e-6
print("layerscale by depth")

# Fused matrices hold the same bits as the ones apart.
apart = init("deepnorm", spec(post(alpha), {}, {"gated": "glu"}), "apart")
for layout in ("concat", "grouped"):
    for gates, second in (("concat", "first"), ("interleaved", "second")):
        fused = init("deepnorm", spec(
            post(alpha), {"layout": layout},
            {"gated": "glu", "gate_layout": gates, "activated_half": second}), "fused")
        q, k, v = (apart["layers.0.attn.%s.weight" % n] for n in "qkv")
        rows = [(m, h) for m in (q, k, v) for h in range(HEADS)] if layout == "concat" \
            else [(m, h) for h in range(HEADS) for m in (q, k, v)]
        size = len(q) // HEADS
        want = array.array("f")
        for matrix, head in rows:
            want += matrix[head * size:(head + 1) * size]
        assert fused["layers.0.attn.qkv.weight"] == want
print("fused as apart")

# The same bits for any number of threads, others for another seed.
one, three = (init("lecun-truncated", spec(), "threads", 5, "--threads=%d" % n)
              for n in (1, 3))
assert one == three
other = init("lecun-truncated", spec(), "threads", 6)
assert one["embed.weight"] != other["embed.weight"]
print("same bits")
