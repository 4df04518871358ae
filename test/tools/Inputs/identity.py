"""identity.py MILLE FOLDER: with each scheme, whether the stack is the identity."""
import json
import os
import subprocess
import sys

mille, folder = sys.argv[1:]
tensors = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "Inputs",
                       "tensors.py")
os.makedirs(folder, exist_ok=True)
sys.path.insert(0, os.path.dirname(tensors))
from tensors import load, make  # noqa: E402

norm = {"kind": "rms_norm"}
scale = {"kind": "learned_scalar"}
cases = {"fixup": ({"branch_scale": scale}, {"input_shift": True}),
         "rezero": ({"branch_scale": scale}, {}),
         "skipinit": ({"branch_scale": scale}, {}),
         "timm-swinv2": ({"branch_norm": norm}, {}),
         "gpt2": ({"in_norm": norm}, {})}
inputs = os.path.join(folder, "in.safetensors")
make(inputs, ["input_ids:i32:2x5=1,2,3,4,5,6,7,8,9,10"])
for scheme, (unit, branch) in cases.items():
    model = {"layers": 3, "hidden_size": 8, "vocab_size": 16,
             "units": [{**unit, "branches": [{"kind": "attention", "heads": 2, **branch}]},
                       {**unit, "branches": [{"kind": "ffn", "intermediate_size": 16,
                                              "act": "relu", **branch}]}],
             "init": {"scheme": scheme, "seed": 1}}
    path = os.path.join(folder, scheme)
    with open(path + ".json", "w") as file:
        json.dump(model, file)
    subprocess.run([mille, "run", path + ".json", "--target=reference",
                    "--hidden-states", "--inputs", inputs, "--outputs",
                    path + ".safetensors"], check=True)
    out = load(path + ".safetensors")
    same = out["hidden_states.0"][2] == out["hidden_states.3"][2]
    print("%s: the stack is %sthe identity" % (scheme, "" if same else "not "))
