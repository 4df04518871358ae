"""exact.py MILLE FOLDER: exact gradients beside those of simulated stacks.

The stacks are of deep.py's placements, with fewer layers and without weights of their
own but a scheme's; attention keeps moments in the analysis but averages in the model, so
that the two are near, not equal."""
import json
import os
import subprocess
import sys

mille, folder = sys.argv[1:]
norm = {"kind": "rms_norm"}
alpha = {"kind": "const", "formula": "(2*layers)^(1/4)"}
ratios = {}
for name, unit, scheme in (("post", {}, "xavier"), ("deepnorm", {"skip_scale": alpha},
                                                    "deepnorm")):
    branch = {"kind": "ffn", "intermediate_size": 64, "act": "relu"}
    path = os.path.join(folder, "exact-" + name + ".json")
    with open(path, "w") as file:
        json.dump({"layers": 12, "hidden_size": 64, "vocab_size": 64,
                   "embedding": {"scale": 8},
                   "units": [{"out_norm": norm, "branches": [branch], **unit}],
                   "init": {"scheme": scheme, "seed": 1}}, file)
    ran = subprocess.run([mille, "analyze", path, "--sample=16", "--gradients", "--json"],
                         check=True, capture_output=True, text=True)
    stack, = json.loads(ran.stdout)["stacks"]
    units = stack["units"]
    for unit in units:
        apart = unit["exact"]["gradient"] / unit["simulated"]["gradient"]
        assert 0.5 < apart < 2, f"{name}, layer {unit['layer']}: {apart} of the simulated"
    for key in ("sgd", "adam", "lamb"):
        total = sum(unit["exact"]["update"][key] for unit in units)
        assert abs(total / stack["update_exact"][key] - 1) < 1e-9, key
    ratios[name] = units[1]["exact"]["gradient"] / units[-1]["exact"]["gradient"]
    print(f"{name}: the first unit's gradient is {ratios[name]:.3f} of the last's")
assert ratios["post"] < 0.8 * ratios["deepnorm"], ratios
print("exact gradients are near those of simulated stacks")
