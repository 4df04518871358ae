"""misfits.py MILLE FOLDER: what `init` says of schemes that do not fit."""
import json
import os
import subprocess
import sys

mille, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
norm = {"kind": "layer_norm"}
attention = {"kind": "attention", "heads": 2}
ffn = {"kind": "ffn", "intermediate_size": 8, "act": "relu"}
learned = {"kind": "learned_scalar"}


def model(*units, **changes):
    return {"layers": 2, "hidden_size": 4, "vocab_size": 8, "units": list(units),
            "final_norm": norm, **changes}


pre = {"in_norm": norm, "branches": [attention]}
post = {"out_norm": norm, "branches": [attention]}
post_ffn = {"out_norm": norm, "branches": [ffn]}
res = {"branch_norm": norm, "branches": [attention]}
bare = {"branches": [attention]}
cases = [
    ("deepnorm", model(pre)),
    ("deepnorm", model(post)),
    ("deepnorm", model({**post, "skip_scale": learned})),
    ("su-sgd", model({"in_norm": norm, "out_norm": norm, "branches": [attention]})),
    ("su-sgd", model(pre, post_ffn)),
    ("su-adam", model(post, post_ffn)),
    ("su-adam", model(res)),
    ("magneto", model(post)),
    ("magneto", model(pre)),
    ("fixup", model(pre)),
    ("fixup", model(bare)),
    ("fixup", model({**bare, "branch_scale": learned})),
    ("rezero", model(bare)),
    ("layerscale", model(pre)),
    ("timm-swinv2", model(pre)),
    ("timm-swinv2", model({"branch_norm": {**norm, "affine": "none"},
                           "branches": [attention]})),
    ("t5", model(pre)),
    ("ntk", model(pre)),
    ("xavier", model(pre, parametrisation="ntk")),
]
for scheme, spec in cases:
    path = os.path.join(folder, "spec.json")
    out = os.path.join(folder, "out.safetensors")
    with open(path, "w") as file:
        json.dump(spec, file)
    ran = subprocess.run([mille, "init", path, "-o", out, "--scheme=" + scheme],
                         capture_output=True, text=True)
    print(ran.returncode, [line.split(": ", 1)[1] for line in ran.stderr.splitlines()
                           if "error: " in line or line.startswith("help: ")])
    assert not os.path.exists(out)
