"""Encoders of texts: mille.Encoder and its peers in Python, each imported when it
is asked for. All take batches of 32 texts that are sorted by length.

  python benchmarks/text_peers.py FOLDER WORK PEER THREADS

makes one vector, and prints the seconds since before the first import."""
import os
import sys
import time

begin = time.perf_counter()

import numpy as np  # noqa: E402: `begin` is before it

BATCH = 32
SENTENCE = "The sky is blue."


def graph(folder, work):
    """The path of the model as ONNX, with a mask."""
    made = os.path.join(work, "plain.masked.onnx")
    if not os.path.exists(made):
        import encoder
        import onnx_graph
        onnx_graph.graph_file(encoder.Encoder(folder), work, "plain", True)
    return made


def tokenizer(folder):
    import tokenizers
    made = tokenizers.Tokenizer.from_file(os.path.join(folder,
                                                       "tokenizer.json"))
    made.enable_truncation(256)
    made.enable_padding()
    return made


def pooled(states, mask):
    vectors = (states * mask[..., None]).sum(1) / mask.sum(1)[:, None]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def by_length(texts):
    """Numbers of the texts, the longest first: words stand for tokens here, as
    in sentence-transformers."""
    return sorted(range(len(texts)), key=lambda i: -len(texts[i]))


def by_runtime(run, folder):
    """An encoder of texts of run: (ids, mask) -> states."""
    tokens = tokenizer(folder)

    def encode(texts):
        order = by_length(texts)
        vectors = [None] * len(texts)
        for at in range(0, len(order), BATCH):
            numbers = order[at:at + BATCH]
            batch = tokens.encode_batch([texts[i] for i in numbers])
            ids = np.array([one.ids for one in batch], np.int64)
            mask = np.array([one.attention_mask for one in batch], np.int64)
            for i, vector in zip(numbers, pooled(run(ids, mask), mask)):
                vectors[i] = vector
        return np.array(vectors)

    return encode


def of_mille(folder, threads, work, dtype="f32"):
    import mille
    made = mille.Encoder(folder, threads=threads, dtype=dtype)
    return lambda texts: made.encode(texts, batch_size=BATCH)


def of_package(folder, threads, work):
    """The same from a package, not from the model's folder."""
    import mille
    package = os.path.join(work, "package")
    if not os.path.exists(package):
        mille.compile(folder, package)
    made = mille.Encoder(package, threads=threads)
    return lambda texts: made.encode(texts, batch_size=BATCH)


def of_sentence_transformers(folder, threads, work):
    import torch
    torch.set_num_threads(threads)
    import sentence_transformers
    made = sentence_transformers.SentenceTransformer(folder, device="cpu")
    return lambda texts: made.encode(texts, batch_size=BATCH)


def of_onnxruntime(folder, threads, work):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph(folder, work), options,
                                           ["CPUExecutionProvider"])
    return by_runtime(lambda ids, mask: session.run(None, {
        "input_ids": ids, "attention_mask": mask})[0], folder)


def of_fastembed(folder, threads, work):
    """ONNX Runtime once more, by fastembed's own tokens and pooling, which takes
    a model from a folder."""
    import fastembed
    from fastembed.common import model_description as kinds
    place = os.path.join(work, "fastembed")
    os.makedirs(place, exist_ok=True)
    files = [os.path.join(folder, name) for name in os.listdir(folder)
             if name.endswith(".json")]
    for path in (graph(folder, work), *files):
        other = os.path.join(place, os.path.basename(path))
        if not os.path.exists(other):
            os.symlink(os.path.abspath(path), other)
    name = "benchmark/model"
    fastembed.TextEmbedding.add_custom_model(
        name, kinds.PoolingType.MEAN, True, kinds.ModelSource(hf=name), 384,
        model_file=os.path.basename(graph(folder, work)))
    made = fastembed.TextEmbedding(name, specific_model_path=place,
                                   threads=threads)

    def encode(texts):
        order = by_length(texts)
        vectors = [None] * len(texts)
        for i, vector in zip(order, made.embed([texts[i] for i in order],
                                               batch_size=BATCH)):
            vectors[i] = vector
        return np.array(vectors)

    return encode


def of_openvino(folder, threads, work):
    import openvino
    core = openvino.Core()
    compiled = core.compile_model(graph(folder, work), "CPU", {
        "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()

    def run(ids, mask):
        request.infer({"input_ids": ids, "attention_mask": mask})
        return request.get_output_tensor(0).data

    return by_runtime(run, folder)


PEERS = {"mille": of_mille, "mille package": of_package,
         "mille int8": lambda *words: of_mille(*words, dtype="int8"),
         "sentence-transformers": of_sentence_transformers,
         "onnxruntime": of_onnxruntime, "fastembed": of_fastembed,
         "openvino": of_openvino}


if __name__ == "__main__":
    # Plain words: argparse takes longer to import than a package to open.
    folder, work, peer, threads = sys.argv[1:]
    PEERS[peer](folder, int(threads), work)([SENTENCE])
    print(time.perf_counter() - begin)
