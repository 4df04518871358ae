"""An encoder as an ONNX graph of standard operators, and its int8 forms.

Files are kept beside each other and made once. Must not run anything but the
calibration of the static int8 form. Needs numpy, onnx, onnxruntime.
"""
import os
import sys

import numpy as np


class Graph:
    """Nodes and constants; each node is named by its output."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def constant(self, name, array):
        self.constants.setdefault(name, np.ascontiguousarray(array))
        return name

    def number(self, name, value):
        return self.constant(name, np.array(value, np.float32))

    def node(self, kind, inputs, output, **attributes):
        from onnx import helper
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output,
                                           **attributes))
        return output

    def linear(self, value, pair, out):
        weight, bias = pair
        product = self.node("MatMul", [value, self.constant(
            out + ".weight", weight.T)], out + ".product")
        return self.node("Add", [self.constant(out + ".bias", bias), product], out)

    def layer_norm(self, value, pair, eps, out):
        return self.node("LayerNormalization", [
            value, self.constant(out + ".weight", pair[0]),
            self.constant(out + ".bias", pair[1])], out, axis=-1, epsilon=eps)


def add_norm(graph, value, skip, pair, encoder, out):
    if encoder.alpha != 1:
        skip = graph.node("Mul", [skip, graph.number("alpha", encoder.alpha)],
                          out + ".scaled")
    total = graph.node("Add", [value, skip], out + ".sum")
    return graph.layer_norm(total, pair, encoder.eps, out)


def attention(graph, x, layer, encoder, tag, key_bias):
    head = encoder.hidden // encoder.heads
    split = graph.constant("split", np.array([0, 0, encoder.heads, head]))
    parts = []
    for name in ["query", "key", "value"]:
        part = graph.linear(x, layer[name], tag + name)
        part = graph.node("Reshape", [part, split], tag + name + ".heads")
        parts.append(graph.node(
            "Transpose", [part], tag + name + ".turned",
            perm=[0, 2, 3, 1] if name == "key" else [0, 2, 1, 3]))
    scores = graph.node("MatMul", parts[:2], tag + "scores")
    scores = graph.node("Div", [scores, graph.number("root", float(head) ** 0.5)],
                        tag + "scaled")
    if key_bias:
        scores = graph.node("Add", [scores, key_bias], tag + "masked")
    scores = graph.node("Softmax", [scores], tag + "softmax", axis=-1)
    mixed = graph.node("MatMul", [scores, parts[2]], tag + "mixed")
    mixed = graph.node("Transpose", [mixed], tag + "mixed.turned",
                       perm=[0, 2, 1, 3])
    mixed = graph.node("Reshape", [mixed, graph.constant(
        "join", np.array([0, 0, encoder.hidden]))], tag + "joined")
    return graph.linear(mixed, layer["out"], tag + "projected")


def gelu(graph, up, tag):
    """up * (1 + erf(up / sqrt 2)) / 2"""
    phi = graph.node("Div", [up, graph.number("root2", 2 ** 0.5)], tag + "gelu.0")
    phi = graph.node("Erf", [phi], tag + "gelu.1")
    phi = graph.node("Add", [phi, graph.number("one", 1)], tag + "gelu.2")
    up = graph.node("Mul", [up, phi], tag + "gelu.3")
    return graph.node("Mul", [up, graph.number("half", 0.5)], tag + "gelu.4")


def embed(graph, encoder):
    x = graph.node("Gather", [graph.constant("words", encoder.words), "input_ids"],
                   "words.x")
    if encoder.positions is None:
        return x
    shape = graph.node("Shape", ["input_ids"], "shape")
    length = graph.node("Gather", [shape, graph.constant(
        "second", np.array([1]))], "length")
    positions = graph.node("Slice", [
        graph.constant("positions", encoder.positions[None]),
        graph.constant("zero", np.array([0])), length,
        graph.constant("axis", np.array([1]))], "positions.x")
    x = graph.node("Add", [x, positions], "embedded")
    return graph.layer_norm(x, encoder.norm, encoder.eps, "layer.0.in")


def mask_bias(graph):
    """0 for visible keys, -10000 for others: [batch, 1, 1, tokens]."""
    mask = graph.node("Unsqueeze", ["attention_mask", graph.constant(
        "middle", np.array([1, 2]))], "mask.wide")
    mask = graph.node("Cast", [mask], "mask.float", to=1)
    mask = graph.node("Sub", [graph.number("one", 1), mask], "mask.away")
    return graph.node("Mul", [mask, graph.number("far", -10000.0)], "mask.bias")


def build(encoder, masked):
    """The graph, its inputs and its output."""
    graph = Graph()
    x = embed(graph, encoder)
    key_bias = mask_bias(graph) if masked else None
    for index in range(encoder.layers):
        layer, tag = encoder.layer(index), "l%d." % index
        out = attention(graph, x, layer, encoder, tag, key_bias)
        x = add_norm(graph, out, x, layer["attention_norm"], encoder,
                     tag + "attended")
        up = gelu(graph, graph.linear(x, layer["up"], tag + "up"), tag)
        x = add_norm(graph, graph.linear(up, layer["down"], tag + "down"), x,
                     layer["ffn_norm"], encoder, tag + "out")
    graph.node("Identity", [x], "last_hidden_state")
    return graph


def save(graph, encoder, masked, path):
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    names = ["input_ids"] + (["attention_mask"] if masked else [])
    made = helper.make_graph(
        graph.nodes, "encoder",
        [helper.make_tensor_value_info(name, TensorProto.INT64,
                                       ["batch", "tokens"]) for name in names],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT,
                                       ["batch", "tokens", encoder.hidden])],
        [numpy_helper.from_array(array, name)
         for name, array in graph.constants.items()])
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    # A file of this format ends at 2 GB; weights beside it have no such limit.
    large = sum(array.nbytes for array in graph.constants.values()) > 1 << 30
    beside = dict(save_as_external_data=True, all_tensors_to_one_file=True,
                  location=os.path.basename(path) + ".data",
                  size_threshold=1024) if large else {}
    onnx.save(model, path, **beside)


def fuse(path, encoder, fused):
    """Fuses the graph with ONNX Runtime's own fuser."""
    from onnxruntime.transformers import optimizer
    model = optimizer.optimize_model(path, model_type="bert",
                                     num_heads=encoder.heads,
                                     hidden_size=encoder.hidden, opt_level=0)
    model.save_model_to_file(fused)


def quantise_dynamic(fused, path):
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic
    quantize_dynamic(fused, path, weight_type=QuantType.QInt8, per_channel=True,
                     extra_options={"DefaultTensorType": TensorProto.FLOAT})


def quantise_static(plain, encoder, masked, path):
    from onnx import TensorProto
    from onnxruntime.quantization import (CalibrationDataReader, QuantFormat,
                                          QuantType, quantize_static)

    class Batches(CalibrationDataReader):
        def __init__(self):
            drawn = [{"input_ids": np.random.default_rng(seed).integers(
                5, encoder.vocabulary, size=(1, 64))} for seed in range(3)]
            if masked:
                for batch in drawn:
                    batch["attention_mask"] = np.ones((1, 64), np.int64)
            self.batches = iter(drawn)

        def get_next(self):
            return next(self.batches, None)

    quantize_static(plain, path, Batches(), quant_format=QuantFormat.QDQ,
                    op_types_to_quantize=["MatMul"], per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                    extra_options={"MatMulConstBOnly": True,
                                   "DefaultTensorType": TensorProto.FLOAT})


def graph_file(encoder, folder, kind, masked=False):
    """The path of the graph of one kind: plain, fused, dynamic or static."""
    path = os.path.join(folder, kind + (".masked" if masked else "") + ".onnx")
    if os.path.exists(path):
        return path
    os.makedirs(folder, exist_ok=True)
    print("making", path, file=sys.stderr)
    if kind == "plain":
        save(build(encoder, masked), encoder, masked, path)
    elif kind == "fused":
        fuse(graph_file(encoder, folder, "plain", masked), encoder, path)
    elif kind == "dynamic":
        kind = "plain" if masked or encoder.alpha != 1 else "fused"
        quantise_dynamic(graph_file(encoder, folder, kind, masked), path)
    elif kind == "static":
        quantise_static(graph_file(encoder, folder, "plain", masked), encoder, masked,
                        path)
    return path
