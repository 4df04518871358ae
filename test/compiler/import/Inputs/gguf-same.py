#!/usr/bin/env python3
"""Runs models as GGUF files and as the folders that they were made from.

  gguf-same.py MILLE SOURCE OUT models CASE...
  gguf-same.py MILLE SOURCE OUT types TYPE...
  gguf-same.py MILLE SOURCE OUT packages CASE...

`models`: cases of test/conformance; the program must be the same, and every
number of a run by the reference. CASE:OPTION is converted with --OPTION.
`types`: models of random blocks; the word table is read whole through
hidden_states.0, and must be what the writer says, bit by bit.
`packages`: cases, compiled; the weights must be the same bytes.
"""
import os
import shutil
import subprocess
import sys

mille, source, out, kind, *cases = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
tensors = os.path.join(source, "test", "Inputs", "tensors.py")
failures = 0


def run(*words):
    global failures
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        failures += 1
        print(f"FAILED {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done


def python(script, *words):
    return run(sys.executable, script, *words)


def outputs(model, inputs, name, *options):
    run(mille, "run", model, "--target=reference", "--inputs", inputs,
        "--outputs", name, *options)
    return name


# Factors of frequencies are f32 in the file: another way to the same numbers.
ROUNDED = {"llama3_rope_scaling": "reference_rounded"}


def converted(case):
    """A place of its own, and there a folder and a GGUF file."""
    name, *options = case.split(":")
    own = os.path.join(out, case.replace(":", "-"))
    python(os.path.join(here, "gguf-models.py"), "convert",
           os.path.join(source, "test", "conformance", name), own,
           *("--" + option for option in options))
    files = sorted(file for file in os.listdir(own) if file.endswith(".gguf"))
    return own, [os.path.join(own, "folder"), os.path.join(own, files[0])]


def compare_packages(case):
    own, models = converted(case)
    for number, model in enumerate(models):
        run(mille, "compile", model, "--name=m", "--target=host", "-o",
            os.path.join(own, f"package{number}"))
    run("cmp", *(os.path.join(own, f"package{number}", "m.weights")
                 for number in range(2)))


def compare_models(case):
    global failures
    own, models = converted(case)
    name = case.split(":")[0]
    texts = []
    for model in models:
        done = run(mille, "compile", model, "--name=m", "--stop-after=import")
        if done.stderr:
            failures += 1
            print(f"{case}: {done.stderr}")
        texts.append(os.path.join(own, f"{len(texts)}.mlir"))
        with open(texts[-1], "w") as file:
            file.write(done.stdout)
    if name not in ROUNDED:
        python(os.path.join(here, "same-program.py"), *texts)
    inputs = os.path.join(source, "test", "conformance", name,
                          "inputs.safetensors")
    results = [outputs(model, inputs, f"{text}.safetensors")
               for model, text in zip(models, texts)]
    how = ["close", *results, ROUNDED[name]] if name in ROUNDED else [
        "same", *results]
    python(tensors, *how)


def compare_types(case):
    own = os.path.join(out, case)
    python(os.path.join(here, "gguf-models.py"), "types", case, own)
    inputs = os.path.join(out, "inputs.safetensors")
    python(tensors, "make", inputs,
           "input_ids:i64:1x16=" + ",".join(map(str, range(16))))
    results = [outputs(os.path.join(own, model), inputs,
                       os.path.join(own, f"{model}.safetensors"),
                       "--hidden-states") for model in ("folder", "model.gguf")]
    python(tensors, "same", *results)


shutil.rmtree(out, ignore_errors=True)  # nothing of an earlier run
os.makedirs(out)
for case in cases:
    {"models": compare_models, "types": compare_types,
     "packages": compare_packages}[kind](case)
print(f"{len(cases)} {kind}, {failures} differences")
sys.exit(1 if failures else 0)
