#!/usr/bin/env python3
"""Native specs drawn at random over placements, scales, norms and branches.

  random_specs.py MILLE TENSORS SCRATCH SEED COUNT [COMPILED TARGET]

Each is run as imported and as fused, both in double; they must agree but for
constants that kernel programs hold as f32. The first COMPILED of them are compiled
for TARGET, too, and run on 1 and 3 threads. Prints the spec that does not agree.
"""
import json
import os
import random
import subprocess
import sys


def norm(draw):
    return {"kind": draw.choice(["layer_norm", "rms_norm"]),
            "affine": draw.choice(["none", "weight", "one_plus_weight"]),
            "bias": draw.random() < .5, "eps": draw.choice([1e-5, 1e-2])}


def scale(draw):
    kind = draw.choice(["const", "learned_scalar", "learned_channel", "scheduled"])
    if kind == "const":
        return {"kind": kind, "value": draw.choice([.5, 1.7, -1.0])}
    if kind == "scheduled":
        return {"kind": kind, "from": .25, "to": .75, "steps": 10}
    found = {"kind": kind, "init": draw.choice([.3, 1])}
    if kind == "learned_scalar":
        found["share"] = draw.choice(["unit", "layer"])
    return found


def latent_attention(draw):
    """Low-rank queries and keys."""
    heads, nope, turned = draw.choice([1, 2, 3]), draw.choice([2, 3]), draw.choice([2, 4])
    latent = {"rank": draw.choice([3, 4]), "nope_dim": nope, "rope_dim": turned,
              "bias": draw.random() < .3}
    if draw.random() < .6:
        latent["norm"] = dict(norm(draw), bias=False)
    if draw.random() < .6:
        latent["query_rank"] = draw.choice([3, 5])
        latent["query_bias"] = draw.random() < .3
        if draw.random() < .6:
            latent["query_norm"] = dict(norm(draw), bias=False)
    return {"name": "attn", "kind": "attention", "heads": heads,
            "head_dim": nope + turned, "value_dim": draw.choice([2, 4, 5]),
            "mask": draw.choice(["causal", "bidirectional"]), "latent": latent,
            "rope": {"theta": 100.0, "pairing": draw.choice(["half", "inter"])}}


def cross_attention(draw):
    found = attention(draw, False)
    for key in ("position_bias", "window", "chunk", "output_gate"):
        found.pop(key, None)
    return dict(found, name="cross", mask="cross")


def attention(draw, rope):
    if rope and draw.random() < .2:
        return latent_attention(draw)
    kv_heads, head_dim = draw.choice([1, 2, 4]), draw.choice([2, 4, 6])
    found = {"name": "attn", "kind": "attention", "kv_heads": kv_heads,
             "heads": kv_heads * draw.choice([1, 2]), "head_dim": head_dim,
             "mask": draw.choice(["causal", "bidirectional"]),
             "logit_scale": {"static": draw.choice(
                 ["rsqrt_head_dim", "one", {"const": .3}])},
             "bias": {name: draw.random() < .5 for name in "qkvo"}}
    if rope:
        found["rope"] = {"theta": 100.0, "rotary_dim": draw.choice(
            [n for n in (2, 4, 6) if n <= head_dim]),
            "pairing": draw.choice(["half", "inter"])}
    elif draw.random() < .3:
        found["position_bias"] = "alibi"
    if draw.random() < .3:
        found["softcap"] = 2.0
    if draw.random() < .3:
        found["window"] = [draw.choice([1, 2, 4]), draw.choice([0, 1, 3])]
    elif draw.random() < .2:
        found["chunk"] = draw.choice([2, 3])
    if draw.random() < .3:
        found["qk_norm"] = dict(norm(draw), bias=False)
        found["qk_norm"]["group"] = draw.choice(["row", "head", "heads"])
        found["qk_norm_order"] = draw.choice(["pre_rope", "post_rope"])
    if draw.random() < .2:
        found["sink"] = "learned"
    if draw.random() < .2:
        found["value_dim"] = draw.choice([2, 3, 8])
    if draw.random() < .2:
        found["output_gate"] = draw.choice(["sigmoid", "silu"])
    if draw.random() < .2:
        found["inner_norm"] = norm(draw)
    return found


def feed_forward(draw, name):
    found = {"name": name, "kind": "ffn",
             "intermediate_size": draw.choice([6, 11]),
             "act": draw.choice(["relu", "relu2", "gelu_erf", "gelu_tanh",
                                 "quick_gelu", "silu", "tanh"]),
             "gated": draw.choice(["none", "glu"]),
             "bias": {name: draw.random() < .5 for name in ("in", "out")}}
    if found["gated"] == "glu":
        found["gate_layout"] = draw.choice(["separate", "concat", "interleaved"])
    if draw.random() < .25:
        found["experts"] = {
            "count": 4, "chosen": draw.choice([1, 2, 3]),
            "score": draw.choice(["softmax", "sigmoid"]),
            "renorm": draw.choice(["none", "sum"]),
            "routed_scale": draw.choice([1, 1.5])}
    return found


def unit(draw, name, branches):
    parallel = len(branches) > 1
    found = {"name": name, "residual_tap": "input", "branches": branches,
             "composition": "parallel" if parallel else "sequential"}
    if draw.random() < .6:
        found["in_norm"] = norm(draw)
    if parallel:
        found["shared_in_norm"] = draw.random() < .5
    shared = not parallel or found["shared_in_norm"]
    if "in_norm" in found and shared and draw.random() < .3:
        found["residual_tap"] = "normed"
    for slot, value in (("branch_norm", norm), ("out_norm", norm),
                        ("skip_scale", scale), ("branch_scale", scale)):
        if draw.random() < .4:
            found[slot] = value(draw)
    return found


def spec(draw):
    if draw.random() < .15:
        return encoder_decoder(draw)
    made = stack(draw)
    made.update({"name": "drawn",
                 "head": {"tied": draw.random() < .5, "bias": False},
                 "init": {"scheme": "bert", "seed": 1}})
    return made


def encoder_decoder(draw):
    """An encoder, and a decoder that reads it after its own attention."""
    encoder, decoder = stack(draw), stack(draw)
    decoder["hidden_size"] = encoder["hidden_size"]
    after = max(i for i, made in enumerate(decoder["units"])
                if made["branches"][0]["kind"] == "attention")
    decoder["units"].insert(after + 1, unit(draw, "cross", [cross_attention(draw)]))
    for made in decoder["units"]:
        for branch in made["branches"]:
            if branch["kind"] == "attention" and branch["mask"] == "bidirectional":
                branch["mask"] = "causal"
    return {"name": "drawn", "encoder": encoder, "decoder": decoder,
            "head": {"tied": draw.random() < .5, "bias": False},
            "init": {"scheme": "bert", "seed": 1}}


def stack(draw):
    rope = draw.random() < .5
    if draw.random() < .25:
        units = [unit(draw, "block", [attention(draw, rope),
                                      feed_forward(draw, "ffn")])]
    else:
        units = [unit(draw, "attn", [attention(draw, rope)]),
                 unit(draw, "ffn", [feed_forward(draw, "ffn")])]
    if draw.random() < .2:
        units.insert(0, unit(draw, "ffn1", [feed_forward(draw, "ffn1")]))
    embedding = {"scale": draw.choice([1.0, 2.5]),
                 "position": None if rope else "learned",
                 "norm": norm(draw) if draw.random() < .4 else None}
    if not rope:
        embedding["position_size"] = 9
    return {"layers": draw.choice([1, 2, 3]),
            "hidden_size": draw.choice([5, 8, 16]), "vocab_size": 11,
            "embedding": embedding, "units": units,
            "final_norm": norm(draw) if draw.random() < .6 else None}


def agree(draw, mille, tensors, folder, target):
    """Whether one drawn spec means the same as imported, fused and, if there is a
    target, compiled."""
    file = lambda name: os.path.join(folder, name)
    made = spec(draw)
    with open(file("spec.json"), "w") as out:
        json.dump(made, out, indent=1)
    words = ["input_ids:i32:2x5=" + ",".join(
        str(draw.randrange(11)) for _ in range(10))]
    if draw.random() < .7:
        words.append("attention_mask:i32:2x5=1,1,1,1,1,1,1,1,0,0")
    if "decoder" in made:
        words.append("decoder_input_ids:i32:2x4=" + ",".join(
            str(draw.randrange(11)) for _ in range(8)))
    if '"scheduled"' in json.dumps(made) and draw.random() < .7:
        words.append("step:i32:1=4")

    def call(*command, output=None):
        return subprocess.run(command, stdout=output).returncode == 0

    def run(model, outputs):
        return call(mille, "run", file(model), "--target=reference",
                    "--hidden-states", "--inputs", file("in"),
                    "--outputs", file(outputs))

    weights = f"--weights=random:{draw.randrange(1000)}"
    ok = call("python3", tensors, "make", file("in"), *words)
    for stage in ("import", "fuse"):
        with open(file(stage + ".mlir"), "w") as out:
            ok = ok and call(mille, "compile", file("spec.json"), weights,
                             "--hidden-states", f"--stop-after={stage}",
                             output=out)
        ok = ok and run(stage + ".mlir", stage)
    ok = ok and call("python3", tensors, "close", file("fuse"), file("import"),
                     "kernel_stage")
    if not target or not ok:
        return ok
    ok = call(mille, "compile", file("spec.json"), weights, "--hidden-states",
              f"--target={target}", "--name=drawn", "-o", file("package"))
    for threads in (1, 3):
        ok = ok and call(mille, "run", file("package"), f"--threads={threads}",
                         "--inputs", file("in"), "--outputs", file(str(threads)))
    ok = ok and call("python3", tensors, "same", file("1"), file("3"))
    # The rows of padding are zeros in a run; verify keeps them.
    return ok and call(mille, "verify", file("package"), "--inputs", file("in"),
                       output=subprocess.DEVNULL)


def main(arguments):
    mille, tensors, folder, seed, count = arguments[:5]
    compiled, target = int((arguments[5:] + ["0"])[0]), (arguments[6:] + [""])[0]
    draw = random.Random(int(seed))
    for number in range(int(count)):
        if not agree(draw, mille, tensors, folder,
                     target if number < compiled else ""):
            with open(os.path.join(folder, "spec.json")) as file:
                print(f"spec {number} of seed {seed}:\n{file.read()}")
            return 1
    print(f"{count} specs agree, {compiled} of them compiled")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
