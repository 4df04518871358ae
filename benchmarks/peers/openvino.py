"""OpenVINO: static shape, latency, one stream; bf16 by its precision hint, int8
by a graph with static scales (calibrated on random ids)."""
import numpy as np
import openvino

import onnx_graph
from peers import read_integers

VERSION = openvino.__version__.split("-")[0]


def prepare(case, encoder):
    """The path of its graph."""
    return onnx_graph.graph_file(
        encoder(), case["work"], "static" if case["dtype"] == "int8" else "plain",
        case["mask"] is not None)


class Peer:
    def __init__(self, case, encoder):
        graph = prepare(case, encoder)
        core = openvino.Core()
        model = core.read_model(graph)
        inputs = {"input_ids": read_integers(case, "ids", np.int64)}
        if case["mask"] is not None:
            inputs["attention_mask"] = read_integers(case, "mask", np.int64)
        model.reshape({name: list(array.shape) for name, array in inputs.items()})
        compiled = core.compile_model(model, "CPU", {
            "INFERENCE_NUM_THREADS": case["threads"], "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT":
                "bf16" if case["dtype"] == "bf16" else "f32"})
        self.request = compiled.create_infer_request()
        for name, array in inputs.items():
            self.request.set_tensor(name, openvino.Tensor(array))

    def run(self):
        self.request.infer()

    def output(self):
        return np.array(self.request.get_output_tensor(0).data,
                        np.float32).tobytes()
