"""ONNX Runtime GenAI: the widened model, quantised by its own builder, weights in blocks
of 32 and products of bytes. The builder needs onnx-ir, torch and transformers."""
import json
import subprocess
import sys
import time

import numpy as np
import onnxruntime_genai

from peers import Refused, generate

VERSION = onnxruntime_genai.__version__
KINDS = {"f32": "fp32", "q8_0": "int8", "q4_0": "int4"}


def prepare(case):
    kind = generate.kind_of(case, KINDS)
    folder = generate.hugging_face(case)

    def make(path):
        blocks = [] if kind == "fp32" else [
            "--extra_options", "int4_block_size=32", "int4_accuracy_level=4"]
        done = subprocess.run(
            [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", folder,
             "-o", path, "-p", kind, "-e", "cpu", "-c", case["work"], *blocks],
            capture_output=True, text=True)
        if done.returncode:
            raise Refused("its builder: " + done.stderr.strip().splitlines()[-1])

    return generate.made_once(case, "onnx-" + kind, make)


class Peer:
    def __init__(self, case, made):
        config = onnxruntime_genai.Config(made)
        config.overlay(json.dumps({"model": {"decoder": {"session_options": {
            "intra_op_num_threads": case["threads"]}}}}))
        self.model = onnxruntime_genai.Model(config)

    def run(self, ids, tokens):
        length = len(ids) + tokens + 1
        how = onnxruntime_genai.GeneratorParams(self.model)
        how.set_search_options(max_length=length, min_length=length, do_sample=False)
        began = time.perf_counter()
        generator = onnxruntime_genai.Generator(self.model, how)
        generator.append_tokens(np.array(ids, np.int32))
        generator.generate_next_token()
        middle = time.perf_counter()
        for _ in range(tokens):
            generator.generate_next_token()
        return middle - began, (time.perf_counter() - middle) / max(tokens, 1)
