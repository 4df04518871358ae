"""deepnet_table.py MILLE FOLDER: alpha, lambda and beta as Mille has them."""
import json
import os
import re
import subprocess
import sys

mille, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
# Depth N: alpha (2N)^(1/4), lambda (2N)^(-1/4), beta (8N)^(-1/4).
table = {6: (1.8612097182, .5372849659, .3799178428),
         12: (2.2133638394, .4518010018, .3194715521),
         24: (2.6321480259, .3799178428, .2686424830),
         80: (3.5565588201, .2811706626, .1988176822),
         96: (3.7224194364, .2686424830, .1899589214),
         100: (3.7606030931, .2659147948, .1880301547),
         200: (4.4721359550, .2236067977, .1581138830),
         1000: (6.6874030498, .1495348781, .1057371263)}


def imported(depth, scheme):
    norm = {"kind": "layer_norm"}
    # One channel: Xavier's deviation is 1 and the gain is what is left.
    model = {"layers": depth, "hidden_size": 1, "vocab_size": 2, "units": [
        {"out_norm": norm, "skip_scale": {"kind": "const", "formula": "(2*layers)^(1/4)"},
         "branches": [branch]} for branch in (
            {"kind": "attention", "heads": 1},
            {"kind": "ffn", "intermediate_size": 1, "act": "relu"})],
        "init": {"scheme": scheme}}
    path = os.path.join(folder, "spec.json")
    with open(path, "w") as file:
        json.dump(model, file)
    return subprocess.run([mille, "compile", path, "--stop-after=import"], check=True,
                          capture_output=True, text=True).stdout


def number(pattern, text):
    return float(re.search(pattern, text).group(1))


gain = r"@layers\.0\.%s\.weight .*std = ([-+.e\d]+)"
count = 0
for depth, (alpha, lamb, beta) in table.items():
    paper, su = imported(depth, "deepnorm"), imported(depth, "su-sgd")
    skip = r"skip_scale <constant ([-+.e\d]+)"
    is_alpha = number(skip, paper)
    # Slip E3: the paper's gain is on v, o and the feed-forward; q and k have 1.
    for role in ("attn.v", "attn.o", "ffn.in", "ffn.out"):
        assert abs(number(gain % role, paper) - beta) < 1e-10, role
        assert abs(number(gain % role, su) - lamb) < 1e-10, role
    for role in ("attn.q", "attn.k"):
        assert number(gain % role, paper) == 1, role
        assert abs(number(gain % role, su) - lamb) < 1e-10, role
    assert abs(is_alpha - alpha) < 1e-10
    # S0.8: the paper's pair has gain/alpha = (4N)^(-1/2), Su's (2N)^(-1/2).
    assert abs(number(gain % "attn.v", paper) / is_alpha * (4 * depth) ** .5 - 1) < 1e-12
    assert abs(number(gain % "attn.v", su) / is_alpha * (2 * depth) ** .5 - 1) < 1e-12
    count += 3
print("%d depths, %d numbers" % (len(table), count))
print("beta/lambda is %.8f" % (number(gain % "attn.v", paper) / number(gain % "attn.v", su)))
# MiniMax's constant, to the last digit.
print(re.search(r"skip_scale <constant ([-+.e\d]+)", imported(80, "deepnorm")).group(1))
