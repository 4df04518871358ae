# manifests.py MILLE PACKAGE NAME SCRATCH: changes NAME.json of a package, one key
# after the other; each change is refused with a sentence that names the key.
import copy
import json
import os
import shutil
import subprocess
import sys

mille, package, name, scratch = sys.argv[1:5]
with open(f"{package}/{name}.json") as file:
    sound = json.load(file)
missing = object()
rules = {"least": 0, "no_repeat": 0, "beams": 1, "length_penalty": 1, "stop": "likely"}

# (path of the key, its new value, what is said)
CASES = [
    ("dtype", "fp4", "key 'dtype' is \"fp4\" but must be one of f32, f16, bf16, int8"),
    ("dtype", 4, "key 'dtype' is 4 but must be one of f32, f16, bf16, int8"),
    ("sizes.1.most", -5, "key 'sizes[1].most' is -5 but must be a whole number from 1 to 2147483647"),
    ("sizes.1.most", 10**18, "key 'sizes[1].most' is 1000000000000000000 but must be"),
    ("sizes.1.most", 1.5, "key 'sizes[1].most' is 1.5 but must be"),
    ("sizes.1.name", "steps", "key 'entries[0].inputs[0].shape[1]' is \"tokens\" but must be"),
    ("max_token", 5, "key 'max_token' is not known"),
    ("entries.0.inputs.0.shape.1", -7,
     "key 'entries[0].inputs[0].shape[1]' is -7 but must be a whole number from 0 to "
     "2147483647, or a name of 'sizes'"),
    ("entries.0.inputs.0.shape.1", "token", "key 'entries[0].inputs[0].shape[1]' is \"token\" but must be"),
    ("entries.0.inputs.0.shape", [], "key 'entries[0].inputs[0].shape' is [] but must be a list of 1 to 4 extents"),
    ("entries.0.inputs.0.shape", [2**31 - 1] * 4, "but must be of at most 2147483647 numbers a sequence"),
    ("entries.0.inputs.0.type", "f16", "key 'entries[0].inputs[0].type' is \"f16\" but must be one of f32, i32"),
    ("entries.0.inputs.0.below", 0, "key 'entries[0].inputs[0].below' is 0 but must be a whole number from 1"),
    ("entries.0.inputs.0.name", missing, "key 'entries[0].inputs[0].name' is missing"),
    ("entries.0.inputs.1.default", "twos", "key 'entries[0].inputs[1].default' is \"twos\" but must be one of ones"),
    ("entries", [], "key 'entries' is [] but must be a list of at least 1"),
    ("entries.0.name", missing, "key 'entries[0].name' is missing"),
    ("entries.0.inputs", {}, "key 'entries[0].inputs' is {} but must be a list"),
    ("entries.0.inputs.0", 3, "key 'entries[0].inputs[0]' is 3 but must be an object"),
    ("entries.0.outputs.0.shape.2", 2**40, "key 'entries[0].outputs[0].shape[2]' is 1099511627776 but"),
    ("weights_embedded", 1, "key 'weights_embedded' is 1 but must be true or false"),
    ("weights_embedded", True, "weights_embedded is true but "),
    ("weights_embedded", True, f"{name}.so holds no weights"),
    ("hidden_states", "yes", "key 'hidden_states' is \"yes\" but must be true or false"),
    ("parameters", -1, "key 'parameters' is -1 but must be a whole number from 0 on"),
    ("kernels.0.places", "1", "key 'kernels[0].places' is \"1\" but must be"),
    ("kernels.2.tiles.0.rank", -1, "key 'kernels[2].tiles[0].rank' is -1 but must be"),
    ("isas", missing, "key 'isas' is missing"),
    ("calibrate", 7, "key 'calibrate' is 7 but must be a string"),
    ("tokenizer_hash", 7, "key 'tokenizer_hash' is 7 but must be a string"),
    ("model.hash", 7, "key 'model.hash' is 7 but must be a string"),
    ("model", [], "key 'model' is [] but must be an object"),
    ("traffic.launches", None, "key 'traffic.launches' is null but must be"),
    ("certificate.measured.0.error", "0", "key 'certificate.measured[0].error' is \"0\" but must be a number"),
    ("certificate.measured.0.error", -1, "key 'certificate.measured[0].error' is -1 but must be a number from 0 on"),
    ("certificate.asked_for", [1], "key 'certificate.asked_for[0]' is 1 but must be a string"),
    ("generation", dict(rules, beams=9), "key 'generation.beams' is 9 but must be a whole number from 1 to 8"),
    ("generation", dict(rules, ends=[-1]), "key 'generation.ends[0]' is -1 but must be a whole number from 0 to 2147483647"),
    ("generation", dict(rules, stop="soon"), "key 'generation.stop' is \"soon\" but must be one of likely, early, never"),
    ("generation", {}, "key 'generation.least' is missing"),
    ("version", missing, "package version is 0 but"),
]


def changed(path, value):
    manifest = copy.deepcopy(sound)
    at = manifest["mille_package"]
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in way:
        at = at[part]
    if value is missing:
        del at[last]
    else:
        at[last] = value
    return manifest


def refused(manifest, part, command):
    with open(f"{scratch}/{name}.json", "w") as file:
        json.dump(manifest, file, indent=1)
    run = subprocess.run([mille, *command], capture_output=True, text=True)
    if run.returncode != 1 or part not in run.stderr:
        sys.exit(f"exit status {run.returncode}, but 1 and\n  {part}\nare expected:\n{run.stderr}")
    return run.stderr


shutil.copytree(package, scratch, dirs_exist_ok=True)
for path, value, part in CASES:
    run = ["run", scratch, "--inputs", f"{package}/../in", "--outputs", f"{scratch}/out"]
    refused(changed(path, value), part, run if value is True else ["report", scratch])
# Every key that is needed, and a manifest of two.
body, needed = sound["mille_package"], 0
optional = {"scales", "traffic_unscaled", "version", "name"}
for key in body.keys() - optional:
    refused(changed(key, missing), f"key '{key}' is missing", ["report", scratch])
    needed += 1
refused({"mille_package": {"version": body["version"], "name": name}}, "key 'dtype' is missing", ["report", scratch])
refused({"mille_package": 5}, "mille_package is 5 but must be an object", ["report", scratch])
# Of many faults 20 are told, and how many there are more.
many = copy.deepcopy(sound)
many["mille_package"].update({f"unknown_{i}": i for i in range(30)})
told = refused(many, "mille: 10 more errors are not shown", ["report", scratch])
assert told.count(": error: ") == 20 and "'unknown_19'" in told, told
print(f"{len(CASES) + needed + 3} manifests refused")
