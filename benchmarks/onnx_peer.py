"""The same BERT in ONNX Runtime: a graph of standard operators, and a worker.

  onnx_peer.py GRAPH IDS.npy THREADS
       then, for each line "run N" on stdin, N times in ms as a JSON list, and
       for "save FILE" the output as .npy

Must not know mille. Needs numpy, onnx, onnxruntime.
"""
import json
import sys
import time

import numpy as np


class Graph:
    """Nodes and constants; each node is named by its output."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def constant(self, name, array):
        self.constants.setdefault(name, np.ascontiguousarray(array))
        return name

    def node(self, kind, inputs, output, **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output,
                                           **attributes))
        return output


def layer(graph, x, weights, at, tag, heads, hidden, eps):
    def linear(value, name, out):
        product = graph.node("MatMul", [value, graph.constant(
            name + ".transposed", weights[name + ".weight"].T)], out + ".product")
        return graph.node("Add", [graph.constant(
            name + ".bias", weights[name + ".bias"]), product], out)

    def add_norm(value, skip, name, out):
        total = graph.node("Add", [value, skip], out + ".sum")
        return graph.node("LayerNormalization", [
            total, graph.constant(name + ".weight", weights[name + ".weight"]),
            graph.constant(name + ".bias", weights[name + ".bias"])],
            out, axis=-1, epsilon=eps)

    split = graph.constant("split", np.array([0, 0, heads, hidden // heads]))
    parts = []
    for name in ["query", "key", "value"]:
        part = linear(x, at + "attention.self." + name, tag + name)
        part = graph.node("Reshape", [part, split], tag + name + ".heads")
        parts.append(graph.node(
            "Transpose", [part], tag + name + ".turned",
            perm=[0, 2, 3, 1] if name == "key" else [0, 2, 1, 3]))
    scores = graph.node("MatMul", parts[:2], tag + "scores")
    scores = graph.node("Div", [scores, graph.constant(
        "root", np.array(float(hidden // heads) ** 0.5, np.float32))],
        tag + "scaled")
    scores = graph.node("Softmax", [scores], tag + "softmax", axis=-1)
    mixed = graph.node("MatMul", [scores, parts[2]], tag + "mixed")
    mixed = graph.node("Transpose", [mixed], tag + "mixed.turned",
                       perm=[0, 2, 1, 3])
    mixed = graph.node("Reshape", [mixed, graph.constant(
        "join", np.array([0, 0, hidden]))], tag + "joined")
    out = linear(mixed, at + "attention.output.dense", tag + "projected")
    x = add_norm(out, x, at + "attention.output.LayerNorm", tag + "attended")

    up = linear(x, at + "intermediate.dense", tag + "up")
    # gelu: up * (1 + erf(up / sqrt 2)) / 2
    phi = graph.node("Div", [up, graph.constant(
        "root2", np.array(2 ** 0.5, np.float32))], tag + "gelu.0")
    phi = graph.node("Erf", [phi], tag + "gelu.1")
    phi = graph.node("Add", [phi, graph.constant(
        "one", np.array(1, np.float32))], tag + "gelu.2")
    up = graph.node("Mul", [up, phi], tag + "gelu.3")
    up = graph.node("Mul", [up, graph.constant(
        "half", np.array(0.5, np.float32))], tag + "gelu.4")
    down = linear(up, at + "output.dense", tag + "down")
    return add_norm(down, x, at + "output.LayerNorm", tag + "out")


def build(weights, config):
    from onnx import TensorProto, helper, numpy_helper
    graph = Graph()
    hidden, eps = config["hidden_size"], config["layer_norm_eps"]
    at = "embeddings."
    x = graph.node("Gather", [graph.constant(
        "words", weights[at + "word_embeddings.weight"]), "input_ids"], "words.x")
    # Token type 0 everywhere is part of the positions.
    positions = (weights[at + "position_embeddings.weight"]
                 + weights[at + "token_type_embeddings.weight"][0])
    shape = graph.node("Shape", ["input_ids"], "shape")
    length = graph.node("Gather", [shape, graph.constant(
        "second", np.array([1]))], "length")
    slice_ = graph.node("Slice", [
        graph.constant("positions", positions[None]),
        graph.constant("zero", np.array([0])), length,
        graph.constant("axis", np.array([1]))], "positions.x")
    x = graph.node("Add", [x, slice_], "embedded")
    x = graph.node("LayerNormalization", [
        x, graph.constant("norm.weight", weights[at + "LayerNorm.weight"]),
        graph.constant("norm.bias", weights[at + "LayerNorm.bias"])],
        "layer.0.in", axis=-1, epsilon=eps)
    for index in range(config["num_hidden_layers"]):
        x = layer(graph, x, weights, "encoder.layer.%d." % index,
                  "l%d." % index, config["num_attention_heads"], hidden, eps)
    graph.node("Identity", [x], "last_hidden_state")
    made = helper.make_graph(
        graph.nodes, "bert",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64,
                                       ["batch", "tokens"])],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT,
                                       ["batch", "tokens", hidden])],
        [numpy_helper.from_array(array, name)
         for name, array in graph.constants.items()])
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def write(weights, config, path):
    """The paths of the graphs made: as built, and fused where that works."""
    import onnx
    onnx.save(build(weights, config), path)
    paths = [path]
    try:
        from onnxruntime.transformers import optimizer
        fused = optimizer.optimize_model(
            path, model_type="bert", num_heads=config["num_attention_heads"],
            hidden_size=config["hidden_size"], opt_level=0)
        paths.append(path.replace(".onnx", ".fused.onnx"))
        fused.save_model_to_file(paths[-1])
    except ImportError as missing:
        print("no fused graph:", missing, file=sys.stderr)
    return paths


def serve(path, ids, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"])
    feed = {"input_ids": np.load(ids).astype(np.int64)}
    for line in sys.stdin:
        word, argument = line.split()
        if word == "save":
            np.save(argument, session.run(None, feed)[0])
            print("null", flush=True)
            continue
        times = []
        for _ in range(int(argument)):
            start = time.perf_counter()
            session.run(None, feed)
            times.append((time.perf_counter() - start) * 1e3)
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]))
