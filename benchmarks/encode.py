"""Vectors of texts: mille.Encoder beside its peers in Python, in turns.

  python benchmarks/encode.py FOLDER --texts=1000 --threads=1 --rounds=3

FOLDER is all-MiniLM-L6-v2, or another BERT of sentence-transformers with mean
pooling. Every peer is a process that stays alive; in each round each encodes all
texts once, and the others stand still. All take batches of 32 texts that are
sorted by length. `--first` times processes that make one vector and end."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

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
    for path in (graph(folder, work), *pathlib.Path(folder).glob("*.json")):
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


PEERS = {"mille": of_mille,
         "mille int8": lambda *words: of_mille(*words, dtype="int8"),
         "sentence-transformers": of_sentence_transformers,
         "onnxruntime": of_onnxruntime, "fastembed": of_fastembed,
         "openvino": of_openvino}


def texts_of(count):
    import serve
    return serve.texts_of(count)


def work_as(options):
    """The other end of Worker."""
    encode = PEERS[options.worker](options.folder, options.threads,
                                   options.work)
    if options.first:
        encode([SENTENCE])
        return
    texts = texts_of(options.texts)
    encode(sorted(texts, key=len)[-BATCH:])
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        vectors = encode(texts)
        seconds = time.perf_counter() - begin
        np.save(os.path.join(options.work, options.worker + ".npy"), vectors)
        print(seconds, flush=True)


def command(options, name, *more):
    return [sys.executable, __file__, options.folder, f"--worker={name}",
            f"--work={options.work}", f"--threads={options.threads}",
            f"--texts={options.texts}", *more]


class Worker:
    def __init__(self, options, name):
        threads = str(options.threads)
        self.process = subprocess.Popen(
            command(options, name), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={
                **os.environ, "RAYON_NUM_THREADS": threads,
                "OMP_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM":
                "true" if options.threads > 1 else "false"})
        while (line := self.process.stdout.readline()) != "ready\n":
            if not line:
                sys.exit(f"{name} has ended")

    def seconds(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def encode_all(options, names):
    workers = {name: Worker(options, name) for name in names}
    times = {name: [] for name in names}
    for _ in range(options.rounds):
        for name, worker in workers.items():
            times[name].append(worker.seconds())
            print(f"{name}: {times[name][-1]:.2f} s", file=sys.stderr)
    vectors = {name: np.load(os.path.join(options.work, name + ".npy"))
               for name in names}
    for worker in workers.values():
        worker.process.stdin.close()
        worker.process.wait()
    own = vectors[names[0]]
    for name in names:
        other = vectors[name]
        cosines = (own * other).sum(1) / np.linalg.norm(own, axis=1) \
            / np.linalg.norm(other, axis=1)
        print(json.dumps({
            "peer": name, "threads": options.threads, "texts": options.texts,
            "seconds": sorted(times[name])[len(times[name]) // 2],
            "best": min(times[name]), "least cosine": float(cosines.min())}))


def first_vectors(options, names):
    """Seconds of a process from its start to its end."""
    for name in names:
        times = []
        for _ in range(options.rounds + 1):
            begin = time.perf_counter()
            subprocess.run(command(options, name, "--first"), check=True)
            times.append(time.perf_counter() - begin)
        print(json.dumps({"peer": name, "first": min(times[1:])}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--work", help="graphs and vectors go here")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder = str(pathlib.Path(options.folder).resolve())
    options.work = options.work or tempfile.gettempdir()
    if options.worker:
        work_as(options)
    elif options.first:
        first_vectors(options, options.peers.split(","))
    else:
        encode_all(options, options.peers.split(","))


if __name__ == "__main__":
    main()
