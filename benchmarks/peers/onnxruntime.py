"""ONNX Runtime: its fused graph for f32, its dynamic quantisation for int8."""
import numpy as np
import onnxruntime

import onnx_graph
from peers import Refused, read_integers

VERSION = onnxruntime.__version__
KINDS = {"f32": "fused", "int8": "dynamic"}


def prepare(case, encoder):
    """The path of its graph."""
    if case["dtype"] not in KINDS:
        raise Refused("its CPU provider has no kernels for %s" % case["dtype"])
    masked, kind = case["mask"] is not None, KINDS[case["dtype"]]
    # ONNX Runtime's fuser supports neither this mask nor scales of the stream.
    if kind == "fused" and (masked or encoder().alpha != 1):
        kind = "plain"
    return onnx_graph.graph_file(encoder(), case["work"], kind, masked)


class Peer:
    def __init__(self, case, encoder):
        graph = prepare(case, encoder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = case["threads"]
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            graph, options, providers=["CPUExecutionProvider"])
        self.feed = {"input_ids": read_integers(case, "ids", np.int64)}
        if case["mask"] is not None:
            self.feed["attention_mask"] = read_integers(case, "mask", np.int64)

    def run(self):
        self.result = self.session.run(None, self.feed)[0]

    def output(self):
        return self.result.astype(np.float32).tobytes()
