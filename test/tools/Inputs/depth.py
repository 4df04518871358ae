"""depth.py MILLE FOLDER MODEL KEY: a model at 3, 12 and 1000 layers for OpenCL, KEY being
what its config calls their number. Prints the launches of a layer and whether code for
12 and 1000 layers is of one size."""
import json
import os
import re
import subprocess
import sys

mille, folder, model, key = sys.argv[1:]


def compiled(layers):
    with open(os.path.join(model, "config.json")) as file:
        text, changed = re.subn('"%s": [0-9]+' % key, '"%s": %d' % (key, layers), file.read())
    assert changed == 1, (key, changed)
    source = os.path.join(folder, "model%d" % layers)
    os.makedirs(source)
    with open(os.path.join(source, "config.json"), "w") as file:
        file.write(text)
    package = os.path.join(folder, "package%d" % layers)
    subprocess.run([mille, "compile", source, "-o", package, "--name=deep",
                    "--target=opencl", "--weights=random:1"], check=True)
    return package


def launches(package):
    ran = subprocess.run([mille, "bench", package, "--tokens=5", "--repeats=1",
                          "--kernels", "--json"], check=True, capture_output=True)
    return sum(kernel["launches"] for kernel in json.loads(ran.stdout)["kernels"])


def code(package):
    out = subprocess.run(["llvm-size", "-A", os.path.join(package, "deep.so")], check=True,
                         capture_output=True, text=True).stdout
    return re.search(r"^\.text +([0-9]+)", out, re.M)[1]


few, some, many = (compiled(layers) for layers in (3, 12, 1000))
print("each layer", (launches(some) - launches(few)) / 9)
print("code", "equal" if code(some) == code(many) else (code(some), code(many)))
