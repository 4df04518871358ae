#!/usr/bin/env python3
"""Runs models as GGUF files and as the folders that they were made from.

  gguf-same.py MILLE SOURCE OUT models CASE...
  gguf-same.py MILLE SOURCE OUT types TYPE...

`models`: cases of test/conformance; the program must be the same, and every
number of a run by the reference. CASE:OPTION is converted with --OPTION.
`types`: models of random blocks; the word table is read whole through
hidden_states.0, and must be what the writer says, bit by bit.
"""
import os
import subprocess
import sys

mille, source, out, kind, *cases = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
tensors = os.path.join(source, "test", "Inputs", "tensors.py")
failures = 0


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        print(f"FAILED {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done


def python(script, *words):
    return run(sys.executable, script, *words)


def fail(case, text):
    global failures
    failures += 1
    print(f"{case}: {text}")


def outputs(model, inputs, name, *options):
    run(mille, "run", model, "--target=reference", "--inputs", inputs,
        "--outputs", name, *options)
    return name


# Factors of frequencies are f32 in the file: another way to the same numbers.
ROUNDED = {"llama3_rope_scaling": "reference_rounded"}


def compare_models(case):
    name, *options = case.split(":")
    folder = os.path.join(source, "test", "conformance", name)
    own = os.path.join(out, case.replace(":", "-"))
    python(os.path.join(here, "gguf-models.py"), "convert", folder, own,
           *("--" + option for option in options))
    files = sorted(file for file in os.listdir(own) if file.endswith(".gguf"))
    models = [os.path.join(own, "folder"), os.path.join(own, files[0])]
    texts = []
    for model in models:
        done = run(mille, "compile", model, "--name=m", "--stop-after=import")
        if "note:" in done.stderr:
            fail(case, "notes: " + done.stderr)
        texts.append(os.path.join(own, f"{len(texts)}.mlir"))
        with open(texts[-1], "w") as file:
            file.write(done.stdout)
    if name not in ROUNDED and python(os.path.join(
            here, "same-program.py"), *texts).returncode:
        fail(case, "not the same program")
    inputs = os.path.join(folder, "inputs.safetensors")
    results = [outputs(model, inputs, f"{text}.safetensors")
               for model, text in zip(models, texts)]
    how = ["close", *results, ROUNDED[name]] if name in ROUNDED else [
        "same", *results]
    if python(tensors, *how).returncode:
        fail(case, "not the same numbers")


def compare_types(case):
    own = os.path.join(out, case)
    python(os.path.join(here, "gguf-models.py"), "types", case, own)
    inputs = os.path.join(out, "inputs.safetensors")
    python(tensors, "make", inputs,
           "input_ids:i64:1x16=" + ",".join(map(str, range(16))))
    results = [outputs(os.path.join(own, model), inputs,
                       os.path.join(own, f"{model}.safetensors"),
                       "--hidden-states") for model in ("folder", "model.gguf")]
    if python(tensors, "same", *results).returncode:
        fail(case, "not the same numbers")


os.makedirs(out, exist_ok=True)
for case in cases:
    (compare_models if kind == "models" else compare_types)(case)
print(f"{len(cases)} {kind}, {failures} differences")
sys.exit(1 if failures else 0)
