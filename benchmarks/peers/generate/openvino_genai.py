"""OpenVINO GenAI: its reader of GGUF, its own choice of types for activations and cache."""
import numpy as np
import openvino
import openvino_genai

from peers import Refused

VERSION = openvino_genai.__version__.split("-")[0]


def prepare(case):
    return case["file"]


class Peer:
    def __init__(self, case, made):
        try:
            self.pipeline = openvino_genai.LLMPipeline(
                made, "CPU", INFERENCE_NUM_THREADS=case["threads"], NUM_STREAMS=1,
                PERFORMANCE_HINT="LATENCY")
        except RuntimeError as error:
            raise Refused(str(error).strip().splitlines()[-1])

    def run(self, ids, tokens):
        how = openvino_genai.GenerationConfig()
        how.max_new_tokens, how.ignore_eos, how.do_sample = tokens + 1, True, False
        given = openvino_genai.TokenizedInputs(
            openvino.Tensor(np.array([ids], np.int64)),
            openvino.Tensor(np.ones((1, len(ids)), np.int64)))
        metrics = self.pipeline.generate(given, how).perf_metrics
        return (metrics.get_ttft().mean / 1e3,
                metrics.get_tpot().mean / 1e3 if tokens else 0)
