#!/usr/bin/env python3
"""BERT-base in f32: mille against ONNX Runtime, on this machine, side by side.

  compare.py [--mille PATH] [--work FOLDER] [--threads 1,2] [--tokens 128]
             [--rounds 7] [--runs 10] [--page docs/benchmarks.md]

Both run the same weights and the same ids. Rounds alternate between them, so
that what else the machine does hits both; each figure is the median over all
runs, with the quartiles. The share of the peak is against multiply-adds in
registers, measured by `mille bench` in the same rounds. The outputs are compared
first. Installs numpy, onnx and onnxruntime into FOLDER/packages.
"""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
PACKAGES = ["numpy", "onnx", "onnxruntime", "packaging", "sympy"]


def install(folder):
    if not os.path.isdir(os.path.join(folder, "onnxruntime")):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet",
                        "--disable-pip-version-check",
                        "--root-user-action=ignore", "--target", folder]
                       + PACKAGES, check=True)
    sys.path[:0] = [folder, HERE]
    os.environ["PYTHONPATH"] = folder


class Peer:
    """ONNX Runtime in a process of its own, for one graph and thread count."""

    def __init__(self, graph, ids, threads):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "onnx_peer.py"), graph, ids,
             str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=environment)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def summary(times):
    times = sorted(times)
    return {"median": statistics.median(times), "q1": times[len(times) // 4],
            "q3": times[3 * len(times) // 4], "runs": len(times)}


def gflop_of(shape, tokens):
    """Multiply-adds counted as two: projections, attention, feed-forward."""
    hidden, ffn = shape["hidden"], shape["ffn"]
    row = 2 * (4 * hidden * hidden + 2 * hidden * ffn)
    return 1e-9 * shape["layers"] * (tokens * row + 4 * tokens * tokens * hidden)


def outputs_agree(options, package, ids, peer):
    import numpy as np
    import bert_folder
    inputs = os.path.join(options.work, "inputs.safetensors")
    outputs = os.path.join(options.work, "outputs.safetensors")
    saved = os.path.join(options.work, "peer.npy")
    bert_folder.write_tensors(inputs, {"input_ids": ids.astype(np.int32)})
    subprocess.run([options.mille, "run", package, "--inputs", inputs,
                    "--outputs", outputs, "--only=last_hidden_state"],
                   check=True)
    peer.ask("save " + saved)
    mine = bert_folder.read_tensor(outputs, "last_hidden_state")
    theirs = np.load(saved)
    return float(np.abs(mine - theirs).max() / np.abs(theirs).max())


def measure(options, package, graphs, ids_file, threads):
    peers = [Peer(graph, ids_file, threads) for graph in graphs]
    for peer in peers:
        peer.ask("run 3")
    mine, theirs, peaks = [], [[] for _ in peers], []
    for _ in range(options.rounds):
        bench = json.loads(subprocess.run(
            [options.mille, "bench", package, "--json",
             "--tokens=%d" % options.tokens, "--threads=%d" % threads,
             "--repeats=%d" % options.runs],
            check=True, capture_output=True, text=True).stdout)
        mine.append(bench["median_ms"])
        peaks.append(bench["peak_gflops"])
        for peer, times in zip(peers, theirs):
            times += peer.ask("run %d" % options.runs)
    for peer in peers:
        peer.close()
    return (summary(mine), min((summary(times) for times in theirs),
                               key=lambda entry: entry["median"]), statistics.median(peaks))


def cpu_name():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor()


def table(options, results, gflop):
    lines = ["| threads | | median ms | quartiles | GFLOP/s | of the peak |",
             "|---|---|---|---|---|---|"]
    for threads, mine, theirs, peak in results:
        for name, entry in [("mille", mine), ("ONNX Runtime", theirs)]:
            rate = gflop / entry["median"] * 1e3
            lines.append("| %d | %s | %.2f | %.2f - %.2f | %.1f | %.1f %% |" % (
                threads, name, entry["median"], entry["q1"], entry["q3"], rate,
                100 * rate / peak))
    notes = []
    for threads, mine, theirs, peak in results:
        notes.append("%d thread%s: ONNX Runtime takes %.3f times as long as "
                     "mille; peak %.1f GFLOP/s." % (
                         threads, "" if threads == 1 else "s",
                         theirs["median"] / mine["median"], peak))
    if len(results) > 1:
        first, last = results[0], results[-1]
        notes.append("mille on %d threads is %.2f times as fast as on %d." % (
            last[0], first[1]["median"] / last[1]["median"], first[0]))
    return lines, notes


def page(options, results, gflop, difference):
    import numpy
    import onnxruntime
    version = subprocess.run([options.mille, "--version"], check=True,
                             capture_output=True, text=True).stdout.split("\n")[0]
    lines, notes = table(options, results, gflop)
    text = ["# Benchmarks", "",
            "Written by `benchmarks/compare.py`; run it to get your own.", "",
            "* Date: " + datetime.date.today().isoformat(),
            "* Machine: %s, %d cores" % (cpu_name(), os.cpu_count()),
            "* Versions: %s, ONNX Runtime %s, Python %s, numpy %s" % (
                version, onnxruntime.__version__, platform.python_version(),
                numpy.__version__),
            "* Command: `benchmarks/compare.py --threads %s --tokens %d "
            "--rounds %d --runs %d`" % (options.threads, options.tokens,
                                        options.rounds, options.runs), "",
            "## BERT-base, f32, batch 1, %d tokens" % options.tokens, "",
            "12 layers of 768 channels, 12 heads, feed-forward of 3072, random "
            "weights. Median of %d rounds of %d runs that alternate between the "
            "two; of ONNX Runtime the faster of the plain graph and the one its "
            "own fuser makes. The peak is multiply-adds in registers, the "
            "median of bursts of 16 ms and more before and after the runs of "
            "each round." % (options.rounds, options.runs), ""]
    text += lines + [""] + ["* " + note for note in notes]
    text += ["* Largest difference of the outputs: %.1e of the largest value."
             % difference, ""]
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mille", default=os.path.join(TOP, "build", "bin",
                                                        "mille"))
    parser.add_argument("--work", default=os.path.join(TOP, "build",
                                                       "benchmarks"))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--page", help="also write this page")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    install(os.path.join(options.work, "packages"))
    import numpy as np
    import bert_folder
    import onnx_peer

    folder = os.path.join(options.work, "bert_base")
    weights = bert_folder.write_folder(folder)
    package = os.path.join(options.work, "package")
    subprocess.run([options.mille, "compile", folder, "-o", package], check=True)
    graph = os.path.join(options.work, "bert_base.onnx")
    fused = graph.replace(".onnx", ".fused.onnx")
    if os.path.exists(graph):
        graphs = [path for path in [graph, fused] if os.path.exists(path)]
    else:
        graphs = onnx_peer.write(weights, bert_folder.config(bert_folder.BASE),
                                 graph)
    del weights
    ids = np.random.default_rng(1).integers(
        5, bert_folder.BASE["vocab"], size=(1, options.tokens))
    ids_file = os.path.join(options.work, "ids.npy")
    np.save(ids_file, ids)

    difference = 0
    for path in graphs:
        peer = Peer(path, ids_file, 1)
        difference = max(difference, outputs_agree(options, package, ids, peer))
        peer.close()
    print("largest difference of the outputs: %.1e of the largest value"
          % difference)
    if difference > 1e-4:
        sys.exit("the outputs differ: times would mean nothing")

    gflop = gflop_of(bert_folder.BASE, options.tokens)
    results = []
    for threads in [int(word) for word in options.threads.split(",")]:
        results.append((threads,) + measure(options, package, graphs, ids_file,
                                            threads))
    lines, notes = table(options, results, gflop)
    print("\n".join(lines + notes))
    if options.page:
        with open(options.page, "w") as file:
            file.write(page(options, results, gflop, difference))


if __name__ == "__main__":
    main()
