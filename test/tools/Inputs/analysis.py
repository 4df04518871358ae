"""analysis.py MILLE FOLDER SOURCE: the numbers of `analyze --json` against formulas."""
import json
import math
import os
import subprocess
import sys

mille, folder, source = sys.argv[1:]


def analyze(path, *options):
    ran = subprocess.run([mille, "analyze", path, "--json", *options], check=True,
                         capture_output=True, text=True)
    return json.loads(ran.stdout)


def near(what, is_, should, relative):
    assert abs(is_ - should) <= relative * abs(should), "%s is %r but should be %r" % (
        what, is_, should)


def laws(name, moment, weight, simulated):
    stack, = analyze(os.path.join(folder, name + ".json"), "--weights=none")["stacks"]
    squares = 0
    for l, unit in enumerate(stack["units"], 1):
        said, is_ = unit["predicted"], unit["simulated"]
        near("moment %d" % l, said["out"], moment(l), 1e-4)
        near("input weight %d" % l, said["input_weight"], weight(l), 1e-4 * l)
        near("simulated moment %d" % l, is_["out"], moment(l), simulated)
        squares += said["branch_weight"] ** 2
    near("squares of weights", squares + stack["input_weight"] ** 2, 1, 1e-9)
    return stack


pre = laws("pre", lambda l: l + 1, lambda l: (l + 1) ** -.5, 0.35)
# The change of unit t is about 1/t, and depth counts as its logarithm.
near("effective depth", pre["effective_depth"], sum(1 / (t + 1) for t in range(1, 97)), 1e-3)
print("pre-norm: %d units" % len(pre["units"]))

post = laws("post", lambda l: 1, lambda l: 2 ** (-l / 2), 1e-3)
near("effective depth", post["effective_depth"], 100, 1e-3)
assert post["update_power_of_layers"]["sgd"] > 0.9
print("post-norm: %d units" % len(post["units"]))

alpha = 200 ** .25
deep = laws("deepnorm", lambda l: 1, lambda l: (alpha / math.sqrt(alpha ** 2 + 1)) ** l, 1e-3)
near("effective depth", deep["effective_depth"], 200 / (alpha ** 2 + 1), 1e-3)
print("deepnorm: %d units" % len(deep["units"]))

# With DeepNorm's own weights the branch is beta^2 / alpha of the skip, xavier's
# square matrices keeping moments, attention's as they are.
own, = analyze(os.path.join(folder, "deepnorm.json"))["stacks"]
beta = 800 ** -.25
unit = own["units"][2]["predicted"]
near("branch against skip", math.sqrt(unit["branch"]) / alpha, beta ** 2 / alpha, 1e-3)
for optimiser in ("sgd", "adam", "lamb"):
    near("simulated update", own["update_simulated"][optimiser],
         own["update_predicted"][optimiser], 0.2)

# Scores (S4.12): T5 puts 1/head_dim into q's weights and does not divide, BERT's
# deviation 0.02 makes scores of second moment 0.042. NTK's form is LeCun's.
sizes = {"layers": 1, "hidden_size": 512, "vocab_size": 8}
fine = {"kind": "rms_norm", "eps": 1e-12}


def built(name, scheme, **changes):
    attention = {"kind": "attention", "heads": 8}
    if scheme == "t5":
        attention["logit_scale"] = {"static": "one"}
    ffn = {"kind": "ffn", "intermediate_size": 64, "act": "relu"}
    spec = {**sizes, **changes, "init": {"scheme": scheme},
            "final_norm": fine, "units": [{"in_norm": fine, "branches": [b]}
                      for b in (attention, ffn)]}
    path = os.path.join(folder, name + ".json")
    with open(path, "w") as file:
        json.dump(spec, file)
    return analyze(path)["stacks"][0]["units"]


near("T5's scores", built("t5", "t5")[0]["logits"][0]["second_moment"], 1, 1e-4)
near("BERT's scores", built("bert", "bert")[0]["logits"][0]["second_moment"], 0.04194, 1e-3)
ntk, lecun = built("ntk", "ntk", parametrisation="ntk"), built("lecun", "lecun")
for a, b in zip(ntk, lecun):
    near("NTK", a["predicted"]["branch"], b["predicted"]["branch"], 1e-9)
print("scores and NTK")

# Two towers are two stacks, also where each has one layer.
assert len(analyze(os.path.join(source, "test", "conformance", "clip"), "--sample=8")["stacks"]) == 2

# Real weights: what a run sums is within what operator norms allow, and near
# what moments say.
models = ["llama_gqa", "bert_pooler", "gpt2", "swinv2", "whisper", "qwen3_moe", "mpt",
          "native/deepnet_encoder/spec.json", "native/sandwich_multiplier/spec.json",
          "native/normed_skip_alpha_beta/spec.json"]
for name in models:
    report = analyze(os.path.join(source, "test", "conformance", name), "--sample=8", "--norms")
    for stack in report["stacks"]:
        for unit in stack["units"]:
            around = unit["range"]
            where = "%s %s %d" % (name, unit["unit"], unit["layer"])
            assert 0 < around["measured_largest"] <= around["bound"], (where, around)
            ratio = around["measured_second_moment"] / unit["predicted"]["sum"]
            assert 0.1 < ratio < 5, (where, ratio)
square = analyze(os.path.join(folder, "lecun.json"), "--norms")
matrices = {m["name"].split(".", 2)[2]: m for u in square["stacks"][0]["units"] for m in u["matrices"]}
near("magnitude of 64 x 512", matrices["ffn.in.weight"]["magnitude"], math.sqrt(1 + 64 / 512), 0.02)
near("operator norm of 512 x 512", matrices["attn.v.weight"]["operator_norm"], 2, 0.02)
print("measured sums of %d models are within their bounds" % len(models))

one, same, other = (analyze(os.path.join(folder, "pre.json"), "--seed=%d" % s) for s in (1, 1, 2))
assert one == same
assert one["stacks"][0]["units"][0]["simulated"] != other["stacks"][0]["units"][0]["simulated"]
assert one["stacks"][0]["units"][0]["predicted"] == other["stacks"][0]["units"][0]["predicted"]
print("seeds")
