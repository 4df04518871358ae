#!/usr/bin/env python3
"""tiny-models.py SOURCE FOLDER: what the commands of the pages name, as small as it can
be: spec.json, gpt.json, text.txt, model.gguf, chat.json and opus-mt."""
import json
import os
import shutil
import subprocess
import sys

source, folder = sys.argv[1:]

DEEP_NORM = {"skip_scale": {"kind": "const", "formula": "(2*layers)^(1/4)"}}


def spec(**keys):
    return {"layers": 1, "hidden_size": 16, "vocab_size": 256,
            "embedding": {"position": "learned", "position_size": 16}, **keys}


def units(norm, unit=None, **attention):
    return [{norm: {"kind": "layer_norm"}, "branches": [branch], **(unit or {})}
            for branch in
            ({"kind": "attention", "heads": 2, **attention},
             {"kind": "ffn", "intermediate_size": 32, "act": "relu"})]


files = {"spec.json": spec(units=units("out_norm", DEEP_NORM)),
         "gpt.json": spec(units=units("in_norm", mask="causal"), head={"tied": True},
                          final_norm={"kind": "layer_norm"},
                          init={"scheme": "gpt2", "seed": 1}),
         "chat.json": {"messages": [{"role": "user", "content": "hello"}]}}
for name, content in files.items():
    with open(os.path.join(folder, name), "w") as file:
        json.dump(content, file)
with open(os.path.join(folder, "text.txt"), "w") as file:
    file.write("a text to learn, again and again. " * 100)
conformance = os.path.join(source, "test", "conformance")
subprocess.run([sys.executable,
                os.path.join(source, "test/compiler/import/Inputs/gguf-models.py"),
                "convert", os.path.join(conformance, "llama_gqa"),
                os.path.join(folder, "gguf")], check=True)
shutil.move(os.path.join(folder, "gguf", "model.gguf"), folder)
shutil.copytree(os.path.join(conformance, "marian"), os.path.join(folder, "opus-mt"))
