#!/usr/bin/env python3
"""`mille export` beside transformers: each folder loads without a missing or a left-over
tensor, and gives the logits of the reference run.

usage: check-export.py MILLE SOURCE     needs torch, transformers, numpy and safetensors
"""
import os
import subprocess
import sys
import tempfile

import numpy
import torch
from safetensors.numpy import load_file, save_file
from transformers import (AutoModelForCausalLM, AutoModelForMaskedLM,
                          AutoModelForSeq2SeqLM)

mille, source = sys.argv[1:3]
native = os.path.join(source, "test", "tools", "Inputs", "export")
folders = os.path.join(source, "test", "conformance")
IDS = numpy.array([[1, 5, 9, 33, 2, 7, 11, 3], [4, 4, 8, 20, 21, 22, 50, 0]], numpy.int32)
CASES = [(os.path.join(native, "gpt.json"), AutoModelForCausalLM),
         (os.path.join(native, "llama.json"), AutoModelForCausalLM),
         (os.path.join(native, "bert.json"), AutoModelForMaskedLM),
         (os.path.join(folders, "gpt2"), AutoModelForCausalLM),
         (os.path.join(folders, "gpt_neox_parallel"), AutoModelForCausalLM),
         (os.path.join(folders, "bert_mlm"), AutoModelForMaskedLM),
         *((os.path.join(folders, name), AutoModelForCausalLM)
           for name in ("mixtral", "gpt_oss", "llama4_text", "qwen2_moe", "qwen3_moe",
                        "deepseek_v2_lite", "deepseek_v3", "minicpm3", "doge", "xglm")),
         (os.path.join(folders, "marian"), AutoModelForSeq2SeqLM),
         (os.path.join(folders, "bart"), AutoModelForSeq2SeqLM),
         (os.path.join(folders, "t5_gated_gelu_untied"), AutoModelForSeq2SeqLM)]


def run(*words):
    subprocess.run([mille, *words], check=True, stdout=subprocess.DEVNULL)


def check(model, auto, folder):
    checkpoint, data = os.path.join(folder, "checkpoint"), os.path.join(folder, "tokens")
    out, inputs = os.path.join(folder, "out"), os.path.join(folder, "inputs")
    tokens = numpy.random.default_rng(1).integers(0, 60, 401, numpy.uint16)
    inputs_of = {"input_ids": IDS}
    if auto is AutoModelForSeq2SeqLM:
        inputs_of["decoder_input_ids"] = IDS[:, 2:].copy()
        rows = tokens[:400].reshape(50, 8).astype(numpy.int32)
        save_file({"input_ids": rows, "decoder_input_ids": rows[:, 2:].copy()}, data)
    else:
        tokens.tofile(data)
    run("train", model, "--data", data, "--tokens=8", "--batch=2", "--steps=3",
        "--save", checkpoint)
    run("export", checkpoint, "--model", model, "-o", os.path.join(folder, "hf"))
    loaded, said = auto.from_pretrained(os.path.join(folder, "hf"),
                                        output_loading_info=True)
    assert not any(said.values()), said
    loaded.eval()
    with torch.no_grad():
        got = loaded(**{name: torch.from_numpy(ids.astype(numpy.int64))
                        for name, ids in inputs_of.items()}).logits.numpy()
    package = os.path.join(folder, "package")
    run("compile", model, "--weights", checkpoint, "-o", package)
    save_file(inputs_of, inputs)
    run("run", package, "--target=reference", "--inputs", inputs, "--outputs", out)
    expected = load_file(out)["logits"]
    apart, most = abs(got - expected).max(), abs(expected).max()
    print(f"{model}: logits apart by {apart:.1e}, of {most:.3g}")
    assert apart <= 2e-6 * most


for model, auto in CASES:
    with tempfile.TemporaryDirectory() as folder:
        check(model, auto, folder)
