#!/usr/bin/env python3
"""twice.py MILLE MILLE_OPT SOURCE: every pass of compiler/*/Passes.td, run
twice in its place, says the same text as once.

A room's passes run one after the other, in the order of its Passes.td, on what the
stage before gives. The line of a function is not compared: there rewrites note what
they did, each time. A pass may refuse to run again; exchange-scales goes to the other
side and back.
"""
import os
import re
import subprocess
import sys

mille, mille_opt, source = sys.argv[1:4]
mille_opt = mille_opt.split()
ROOMS = {"rewrite": "import", "fuse": "import", "plan": "fuse", "lower": "plan"}
TRAINING = {"fuse": "roll", "plan": "fuse", "lower": "plan"}
TRAINED = "native/rezero/spec.json"
MODELS = ["llama_gqa", "bert_mlm", "native/law_norm_rotation_normed_skip/spec.json",
          "native/deepnet_encoder/spec.json", "native/rezero/spec.json"]


def passes_of(room):
    with open(os.path.join(source, "compiler", room, "Passes.td")) as file:
        return re.findall(r'Pass<"([\w-]+)"', file.read())


OPTIONS = {"pack-weights": "=widths=48,64 widths-of-more=64"}


def text_of(words, taken):
    """What mille-opt prints of a text; none where it refuses."""
    done = subprocess.run(mille_opt + words, input=taken, capture_output=True,
                          text=True)
    return done.stdout if done.returncode == 0 else None


def body(text):
    """What is compared."""
    return [line for line in text.splitlines() if "func.func @" not in line]


# A model, whether it is to be trained (without rewrites then), and the room with the
# stage before it.
PLACES = [(model, ["--rewrites=none"], *place)
          for model in MODELS for place in ROOMS.items()]
PLACES += [(TRAINED, ["--train"], *place) for place in TRAINING.items()]
every, changed, failures = set(), set(), 0
for model, words, room, stage in PLACES:
    text = subprocess.run(
        [mille, "compile", os.path.join(source, "test", "conformance", model),
         "--dtype=f32", f"--stop-after={stage}", *words],
        capture_output=True, text=True, check=True).stdout
    text = text_of([], text)
    for name in passes_of(room):
        every.add(name)
        word = f"--{name}{OPTIONS.get(name, '')}"
        once = text_of([word], text)
        if once is None:
            sys.exit(f"{name} on {model}: it fails")
        again = text_of([word], once)
        if name == "exchange-scales":
            again = text_of([word], again)
        if again is not None and body(again) != body(once):
            failures += 1
            print(f"{name} on {model}: the second time it changes something")
        if body(once) != body(text):
            changed.add(name)
        text = once
print(f"{len(every)} passes, {len(changed)} of them change these models,"
      f" {failures} differ; no change: {' '.join(sorted(every - changed))}")
sys.exit(failures > 0)
