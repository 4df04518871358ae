"""CTranslate2: the widened model, in f32 or in its int8, a scale for each row. Converting
needs transformers and torch."""
import json
import os
import time

import ctranslate2

from peers import Refused, generate

VERSION = ctranslate2.__version__
KINDS = {"f32": "float32", "q8_0": "int8"}


def prepare(case):
    kind = generate.kind_of(case, KINDS)
    folder = generate.hugging_face(case)

    def make(path):
        from ctranslate2.converters import TransformersConverter
        TransformersConverter(folder).convert(path, quantization=kind)

    return generate.made_once(case, "ctranslate2-" + kind, make)


class Peer:
    def __init__(self, case, made):
        self.generator = ctranslate2.Generator(
            made, device="cpu", compute_type=generate.kind_of(case, KINDS),
            inter_threads=1, intra_threads=case["threads"])
        with open(os.path.join(made, "vocabulary.json")) as file:
            self.words = json.load(file)

    def run(self, ids, tokens):
        """Each token when it comes: it may end before all of them are there."""
        times = [time.perf_counter()]
        for _ in self.generator.generate_tokens(
                [self.words[token] for token in ids], max_length=tokens + 1,
                sampling_topk=1):
            times.append(time.perf_counter())
        if len(times) < 2 + (tokens > 0):
            raise Refused("it ends after %d tokens" % (len(times) - 1))
        return (times[1] - times[0],
                (times[-1] - times[1]) / max(len(times) - 2, 1))
