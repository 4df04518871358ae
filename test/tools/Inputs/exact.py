"""exact.py MILLE FOLDER: exact gradients beside those of simulated stacks.

The stacks are of deep.py's placements, with fewer layers and without weights of their
own but a scheme's; attention keeps moments in the analysis but averages in the model, so
that the two are near, not equal. One drawn stack of Post-LN lies up to three times apart,
as few tokens stay different in it; four of them, in the middle, do not, and each DeepNorm
is near."""
import json
import math
import os
import subprocess
import sys

mille, folder = sys.argv[1:]
SEEDS = range(1, 5)
norm = {"kind": "rms_norm"}
alpha = {"kind": "const", "formula": "(2*layers)^(1/4)"}


def ratios(name, unit, scheme, seed):
    """Of each unit: its exact gradient, by the simulated one."""
    branch = {"kind": "ffn", "intermediate_size": 64, "act": "relu"}
    path = os.path.join(folder, "exact-" + name + ".json")
    with open(path, "w") as file:
        json.dump({"layers": 12, "hidden_size": 64, "vocab_size": 64,
                   "embedding": {"scale": 8},
                   "units": [{"out_norm": norm, "branches": [branch], **unit}],
                   "init": {"scheme": scheme, "seed": seed}}, file)
    ran = subprocess.run([mille, "analyze", path, "--sample=16", "--gradients", "--json"],
                         check=True, capture_output=True, text=True)
    stack, = json.loads(ran.stdout)["stacks"]
    units = stack["units"]
    for key in ("sgd", "adam", "lamb"):
        total = sum(unit["exact"]["update"][key] for unit in units)
        assert abs(total / stack["update_exact"][key] - 1) < 1e-9, key
    return [unit["exact"]["gradient"] / unit["simulated"]["gradient"] for unit in units]


for name, unit, scheme, most, alone in (
        ("post", {}, "xavier", 2, 4),
        ("deepnorm", {"skip_scale": alpha}, "deepnorm", 1.2, 1.4)):
    drawn = [ratios(name, unit, scheme, seed) for seed in SEEDS]
    worst = max(abs(math.log(ratio)) for one in drawn for ratio in one)
    assert worst < math.log(alone), f"{name}: {math.exp(worst)} from the simulated"
    middles = [math.exp(sum(map(math.log, layer)) / len(SEEDS)) for layer in zip(*drawn)]
    for layer, middle in enumerate(middles):
        assert 1 / most < middle < most, f"{name}, layer {layer}: {middle} of the simulated"
    print(f"{name}: in the middle {min(middles):.2f} to {max(middles):.2f} of the simulated")
print("exact gradients are near those of simulated stacks")
