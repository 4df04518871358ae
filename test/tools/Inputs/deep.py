"""deep.py FOLDER: specs of every placement at depth, in one folder."""
import json
import os
import sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
norm = {"kind": "rms_norm"}
alpha = {"kind": "const", "formula": "(2*layers)^(1/4)"}


def write(name, layers, unit, scheme, attention=None, final=True, **embedding):
    branches = [{"kind": "attention", "heads": 4, **(attention or {})},
                {"kind": "ffn", "intermediate_size": 64, "act": "relu"}]
    spec = {"layers": layers, "hidden_size": 64, "vocab_size": 64,
            "embedding": {"scale": 8},
            "units": [{**unit, "branches": [b]} for b in branches],
            "init": {"scheme": scheme, "seed": 1}}
    if final:
        spec["final_norm"] = norm
    with open(os.path.join(folder, name + ".json"), "w") as file:
        json.dump(spec, file)


write("post", 100, {"out_norm": norm}, "xavier", final=False)
write("deepnorm", 100, {"out_norm": norm, "skip_scale": alpha}, "deepnorm", final=False)
write("half", 80, {"in_norm": norm, "residual_tap": "normed", "skip_scale": alpha}, "xavier")
write("pre", 48, {"in_norm": norm}, "lecun")
write("open", 4, {"in_norm": norm}, "lecun", final=False)
write("none", 24, {}, "he", final=False)
write("res", 24, {"branch_norm": norm}, "bert")
write("undivided", 4, {"in_norm": norm}, "lecun", {"logit_scale": {"static": "one"}})
write("layerscale", 25, {"in_norm": norm, "branch_scale": {"kind": "learned_channel"}},
      "layerscale")
