#!/usr/bin/env python3
"""Native specs drawn at random over placements, scales, norms and branches.

  random_specs.py MILLE STAGES_AGREE SCRATCH SEED COUNT [COMPILED TARGET]

Each is run as imported, as fused, with some rewrites left out, and by passes of fuse of
which some are left out and all are in any order, always in double; they must agree but
for constants that kernel programs hold as f32 (StagesAgree.cpp). So must a step of
training as differentiated and as fused, where the model trains. The first COMPILED of
them are compiled for TARGET, too, in any type, with some rewrites left out, and run on 1
and 3 threads. A spec that does not agree is made as small as it can be, and printed.
"""
import contextlib
import json
import os
import random
import select
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, os.pardir, "Inputs")]
import reduce_spec  # noqa: E402
import tensors  # noqa: E402

# Of fuse, after convert-to-kernel.
PASSES = ["fuse-bias-activation", "fuse-qkv", "fuse-gate-up", "fuse-residual",
          "carry-norm", "fuse-add-norm", "fuse-embed-norm", "fuse-softmax-scale",
          "fuse-rope"]
REWRITES = ["rotate-norms", "exchange-scales", "fold-branch-scales",
            "fold-linear-scales", "fold-norm-weights", "fold-softmax-scale",
            "find-dead-scales"]
TYPES = ["f32", "f32", "bf16", "int8"]
RECOMPUTED = ["none", "cheap", "layer", "segment:2"] # of a step of training
LONGEST = 60 # seconds of its own that a case may take, and ten times as many in all


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
    if draw.random() < .15:
        found["qkv_clip"] = .4
    if draw.random() < .1:
        found["qkv_act"] = draw.choice(["silu", "relu"])
    if len({found["bias"][name] for name in "qkv"}) == 1 and draw.random() < .5:
        found["layout"] = draw.choice(["concat", "grouped"])
    if draw.random() < .2:
        found["logit_scale"]["layer"] = "1/(l+1)"
    if rope and draw.random() < .2:
        found["rope"]["sign"] = "-1"
    if draw.random() < .2: # layers that differ
        found["pattern"] = [{"softcap": 3.0}, {}]
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
    elif draw.random() < .2:
        found["pattern"] = [{}, {"intermediate_size": 7}]
    if draw.random() < .15:
        found["act_limit"] = .5
    return found


def listed(draw, value, layers):
    """One for all layers, or one for each."""
    made = [value(draw) for _ in range(layers)]
    kinds = {one["kind"] for one in made}
    alike = kinds & {"learned_scalar", "scheduled"} or draw.random() < .8
    return made[0] if alike else made


def unit(draw, name, branches, layers):
    parallel = len(branches) > 1
    found = {"name": name, "residual_tap": "input", "branches": branches,
             "composition": "parallel" if parallel else "sequential"}
    if draw.random() < .6:
        found["in_norm"] = listed(draw, norm, layers)
    if parallel:
        found["shared_in_norm"] = draw.random() < .5
    shared = not parallel or found["shared_in_norm"]
    if "in_norm" in found and shared and draw.random() < .3:
        found["residual_tap"] = "normed"
    for slot, value in (("branch_norm", norm), ("out_norm", norm),
                        ("skip_scale", scale), ("branch_scale", scale)):
        if draw.random() < .4:
            found[slot] = listed(draw, value, layers)
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
    decoder["units"].insert(after + 1, unit(draw, "cross", [cross_attention(draw)],
                                            decoder["layers"]))
    for made in decoder["units"]:
        for branch in made["branches"]:
            if branch["kind"] == "attention" and branch["mask"] == "bidirectional":
                branch["mask"] = "causal"
    return {"name": "drawn", "encoder": encoder, "decoder": decoder,
            "head": {"tied": draw.random() < .5, "bias": False},
            "init": {"scheme": "bert", "seed": 1}}


def stack(draw):
    rope, layers = draw.random() < .5, draw.choice([1, 2, 3])
    if draw.random() < .25:
        units = [unit(draw, "block", [attention(draw, rope),
                                      feed_forward(draw, "ffn")], layers)]
    else:
        units = [unit(draw, "attn", [attention(draw, rope)], layers),
                 unit(draw, "ffn", [feed_forward(draw, "ffn")], layers)]
    if draw.random() < .2:
        units.insert(0, unit(draw, "ffn1", [feed_forward(draw, "ffn1")], layers))
    embedding = {"scale": draw.choice([1.0, 2.5]),
                 "position": None if rope else "learned",
                 "norm": norm(draw) if draw.random() < .4 else None}
    if not rope:
        embedding["position_size"] = 9
    made = {"layers": layers, "hidden_size": draw.choice([5, 8, 16]), "vocab_size": 11,
            "embedding": embedding, "units": units,
            "final_norm": norm(draw) if draw.random() < .6 else None}
    if layers > 1 and draw.random() < .15:
        made["layer_weights"] = [0] * layers
    return made


class Case:
    """What is drawn beside a spec, so that a smaller spec is run in the same way."""

    def __init__(self, draw, made, target):
        self.target = target
        self.ids = ",".join(str(draw.randrange(11)) for _ in range(10))
        self.decoder_ids = ",".join(str(draw.randrange(11)) for _ in range(8))
        self.masked, self.stepped = draw.random() < .7, draw.random() < .7
        self.weights = f"--weights=random:{draw.randrange(1000)}"
        self.hidden = ["--hidden-states"] if draw.random() < .5 else []
        self.passes = [name for name in PASSES if draw.random() < .8]
        draw.shuffle(self.passes)
        self.dtype = draw.choice(TYPES)
        self.rewrites = [name for name in REWRITES if draw.random() < .7]
        self.recompute = draw.choice(RECOMPUTED)

    def inputs(self, made):
        words = ["input_ids:i32:2x5=" + self.ids]
        if self.masked:
            words.append("attention_mask:i32:2x5=1,1,1,1,1,1,1,1,0,0")
        if "decoder" in made:
            words.append("decoder_input_ids:i32:2x4=" + self.decoder_ids)
        if self.stepped and '"scheduled"' in json.dumps(made):
            words.append("step:i32:1=4")
        return words


def own_seconds(pid):
    """What a process has used of processors."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Runs:
    """The commands in one folder; what they tell goes to its log."""

    def __init__(self, mille, stages_agree, folder):
        self.mille, self.stages_agree, self.folder = mille, stages_agree, folder
        self.log, self.stages = os.path.join(folder, "log"), None

    def file(self, name):
        return os.path.join(self.folder, name)

    def call(self, *words):
        with open(self.log, "a") as log:
            return subprocess.run([self.mille, *words], stdout=log,
                                  stderr=log).returncode == 0

    def agrees(self, made, case):
        """`agrees...`, `refused` by import, or what differs."""
        file = self.file
        open(self.log, "w").close()
        with open(file("spec.json"), "w") as out:
            json.dump(made, out, indent=1)
        tensors.make(file("in"), case.inputs(made))
        outcome = self.stages_agree_on(case)
        if case.target and outcome.startswith("agrees"):
            given = [file("spec.json"), case.weights, *case.hidden]
            return self.compiled_agrees(given, case) or outcome
        return outcome

    def stages_agree_on(self, case):
        """The answer of stages-agree, which goes on running."""
        if not self.stages:
            with open(self.log, "a") as log:
                self.stages = subprocess.Popen([self.stages_agree], stdin=subprocess.PIPE,
                                               stdout=subprocess.PIPE, stderr=log)
        passes = ["roll", "convert-to-kernel"] + case.passes
        words = {"model": self.file("spec.json"), "inputs": self.file("in"),
                 "folder": self.folder, "weights": case.weights.split("=")[1],
                 "hidden": bool(case.hidden), "passes": ",".join(passes),
                 "rewrites": case.rewrites, "recompute": case.recompute}
        self.stages.stdin.write((json.dumps(words) + "\n").encode())
        self.stages.stdin.flush()
        self.wait_for_answer()
        answer = self.stages.stdout.readline().decode().strip()
        if answer:
            return answer
        status, self.stages = self.stages.wait(), None
        return f"the process ends with {status}"

    def wait_for_answer(self):
        """Ends stages-agree where it takes long, but not where other programs do."""
        began, spent = time.time(), own_seconds(self.stages.pid)
        while not select.select([self.stages.stdout], [], [], 1)[0]:
            if own_seconds(self.stages.pid) - spent > LONGEST or \
                    time.time() - began > 10 * LONGEST:
                self.stages.kill()
                return

    def compiled_agrees(self, given, case):
        """What is wrong with the package; nothing where it is right."""
        file, call = self.file, self.call
        how = [f"--dtype={case.dtype}",
               "--rewrites=" + ",".join(case.rewrites or ["none"])]
        if not call("compile", *given, *how, f"--target={case.target}",
                    "--name=drawn", "-o", file("package")):
            return "no package: " + " ".join(how)
        for threads in ("1", "3"):
            if not call("run", file("package"), f"--threads={threads}",
                        "--inputs", file("in"), "--outputs", file(threads)):
                return "the package does not run: " + " ".join(how)
        with open(self.log, "a") as log, contextlib.redirect_stdout(log):
            if tensors.same(file("1"), file("3")):
                return "threads differ: " + " ".join(how)
        # The rows of padding are zeros in a run; verify keeps them.
        if not call("verify", file("package"), "--inputs", file("in")):
            return "the package differs: " + " ".join(how)
        return ""


def tell(runs, made, case, outcome):
    """The smallest spec that comes to the same, and how many ops it has."""
    smallest = reduce_spec.reduced(
        made, lambda other: runs.agrees(other, case) == outcome)
    runs.agrees(smallest, case)
    with open(runs.log) as file:
        print(outcome, case.weights, case.inputs(smallest), vars(case),
              file.read()[-2000:])
    with open(runs.file("import.mlir")) as file:
        ops = sum(" = transformer." in line for line in file)
    print(f"{ops} ops: {json.dumps(smallest, indent=1)}")


def main(arguments):
    runs, seed, count = Runs(*arguments[:3]), arguments[3], int(arguments[4])
    compiled, target = int((arguments[5:] + ["0"])[0]), (arguments[6:] + [""])[0]
    draw = random.Random(int(seed))
    agreed = refused = trained = 0
    while agreed < count:
        made = spec(draw)
        case = Case(draw, made, target if agreed < compiled else "")
        outcome = runs.agrees(made, case)
        if outcome == "refused":
            refused += 1
            with open(runs.log) as file:
                print("refused:", file.read().splitlines()[:1])
        elif not outcome.startswith("agrees"):
            print(f"spec {agreed} of seed {seed}")
            tell(runs, made, case, outcome)
            return 1
        else:
            agreed += 1
            trained += outcome == "agrees and trains"
    print(f"{count} specs agree, {trained} of them also trained, {compiled} compiled, "
          f"{refused} more refused")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
