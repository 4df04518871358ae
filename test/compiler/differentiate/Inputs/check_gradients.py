#!/usr/bin/env python3
"""Compares gradients with torch's: check_gradients.py MILLE PROJECTIONS CONFORMANCE
ANSWERS.json SCRATCH. Standard library only."""
import json
import os
import subprocess
import sys
import tempfile


def changed(case, changes, scratch):
    """A folder of the case with other options of its config."""
    with open(os.path.join(case, "config.json")) as file:
        config = json.load(file)
    for change in changes:
        key, value = change.split("=", 1)
        config[key] = json.loads(value)
    folder = tempfile.mkdtemp(dir=scratch)
    for name in ("model.safetensors", "inputs.safetensors"):
        os.symlink(os.path.join(case, name), os.path.join(folder, name))
    with open(os.path.join(folder, "config.json"), "w") as out:
        json.dump(config, out)
    return folder


def gradients(mille, projections, case, scratch):
    text = os.path.join(scratch, "model.mlir")
    with open(text, "w") as out:
        subprocess.run([mille, "compile", case, "--rewrites=none",
                        "--stop-after=roll"], stdout=out, check=True)
    ran = subprocess.run([projections, text, case], capture_output=True, text=True)
    if ran.returncode:
        print(ran.stderr)
        return None
    lines = [line.split() for line in ran.stdout.splitlines()]
    return {name: [float(word) for word in words] for name, *words in lines}


def main(arguments):
    mille, projections, root, answers, scratch = arguments
    with open(answers) as file:
        cases = json.load(file)
    tensors = 0
    for case, expected in cases.items():
        name, *changes = case.split()
        folder = os.path.join(root, name)
        if changes:
            folder = changed(folder, changes, scratch)
        got = gradients(mille, projections, folder, scratch)
        if got is None:
            return 1
        # Relative to the largest of the case: a key's bias has none.
        most = max(abs(number) for row in expected.values() for number in row)
        worst = 0
        for name, row in expected.items():
            tensors += 1
            for theirs, ours in zip(row, got[name]):
                error = abs(theirs - ours) / max(abs(theirs), 1e-3 * most)
                worst = max(worst, error)
                if not error < 1e-6:
                    print(f"{case}: {name} is {ours} but torch says {theirs}")
                    return 1
        print(f"{case}: worst {worst:.1e}")
    print(f"gradients of {tensors} tensors in {len(cases)} cases are torch's")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
