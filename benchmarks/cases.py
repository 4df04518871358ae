"""One case (a model, its type, sizes, threads) on all peers: compiled, opened,
compared, measured. Gives a table as a dictionary. Must not print tables.
"""
import array
import hashlib
import json
import os
import random
import statistics
import struct
import subprocess
import sys

import agreement
import models
import rounds
import text_ids
from rounds import Refused

# name of a row -> module in peers/, variant
PEERS = {
    "mille": ("mille", ""),
    "ONNX Runtime": ("onnxruntime", ""),
    "OpenVINO": ("openvino", ""),
    "torch eager": ("torch", "eager"),
    "torch compile": ("torch", "compile"),
    "CTranslate2": ("ctranslate2", ""),
    "llama.cpp": ("llama_cpp", ""),
    "JAX": ("jax", ""),
    "IREE": ("iree", ""),
}
# The rows of a table of devices, besides that of the CPU's code.
ON_DEVICES = {
    "mille": PEERS["mille"],
    "mille on OpenCL": ("mille", "opencl"),
    "torch eager on GPU": ("torch", "eager on GPU"),
    "torch compile on GPU": ("torch", "compile on GPU"),
}


def say(text):
    print(text, file=sys.stderr, flush=True)


def last_error(text):
    lines = [line for line in text.splitlines() if "error:" in line]
    return lines[-1].split("error:", 1)[1].strip() if lines else text.strip()


class Bench:
    """The state that all cases of one call share."""

    def __init__(self, options):
        self.options = options
        self.workers = rounds.Workers(os.path.join(options.work, "logs"))
        self.packages, self.versions = {}, {}

    def mille(self, *arguments, cores=None):
        pinned = (lambda: os.sched_setaffinity(0, cores)) if cores else None
        done = subprocess.run([self.options.mille, *arguments],
                              capture_output=True, text=True, preexec_fn=pinned)
        if done.returncode:
            raise Refused(last_error(done.stderr))
        return done.stdout

    def compiled(self, model, dtype, target="host"):
        """The package of a model in a type, compiled once per call."""
        key = model, dtype, target
        if key not in self.packages:
            folder = os.path.join(self.folder_of(model), "mille-" + dtype + (
                "" if target == "host" else "-" + target))
            try:
                self.mille("compile", model, "--dtype=" + dtype,
                           "--target=" + target, "--name=model", "-o", folder)
                self.packages[key] = folder
            except Refused as reason:
                self.packages[key] = reason
        package = self.packages[key]
        if isinstance(package, Refused):
            raise package
        return package

    def folder_of(self, model):
        """The folder for files that Mille and the peers make from a model."""
        name = hashlib.sha256(os.path.abspath(model).encode()).hexdigest()[:12]
        folder = os.path.join(self.options.work, "made", name)
        os.makedirs(folder, exist_ok=True)
        return folder

    def ceilings(self, threads, cores=None):
        return json.loads(self.mille("devices", "--measure", "--json",
                                     "--threads=%d" % threads, cores=cores))

    def case(self, model, dtype, batch, tokens, threads, lengths=None):
        """lengths: of each sequence, if they differ; the rest is padding."""
        folder = self.folder_of(model)
        ids = ids_for(model, batch, tokens)
        case = {"model": model, "dtype": dtype, "batch": batch, "tokens": tokens,
                "threads": threads, "work": folder, "mask": None, "lengths": lengths,
                "ids": os.path.join(folder, "ids-%dx%d" % (batch, tokens))}
        other = write_integers(case["ids"], ids)
        if lengths:
            case["mask"] = case["ids"] + "-mask"
            other |= write_integers(case["mask"], mask_of(case))
        if other:
            forget_references(case)
        return case

    def open(self, name, case):
        """A worker with the case open, and its answer."""
        module, variant = {**PEERS, **ON_DEVICES}[name]
        if module == "mille":
            case = dict(case, package=self.compiled(
                case["model"], case["dtype"], variant or "host"))
        say("  %s" % name)
        worker, answer = self.workers.open(module, variant, case)
        if answer["version"]:
            self.versions[name.split(" ")[0] if module == "torch" else name] = \
                answer["version"]
        return worker, answer

    def reference(self, case):
        """A file of the result in f32, by a peer, or in double where there is
        none; and by whom."""
        path = reference_path(case)
        if os.path.exists(path + ".json"):
            with open(path + ".json") as file:
                return path, json.load(file)
        plain = dict(case, dtype="f32")
        for name in ["torch eager", "ONNX Runtime", "OpenVINO", "JAX"]:
            if name not in self.options.peers:
                continue
            try:
                self.open(name, plain)[0].ask("save", path)
                break
            except Refused:
                continue
        else:
            name = "mille's reference, in double"
            self.save_reference(case, path)
        with open(path + ".json", "w") as file:
            json.dump(name, file)
        return path, name

    def save_reference(self, case, path):
        """Runs `mille run --target=reference`, without generated code."""
        inputs, outputs = path + ".inputs", path + ".outputs"
        shape = [case["batch"], case["tokens"]]
        files = {"input_ids": case["ids"], "attention_mask": case["mask"]}
        write_tensors(inputs, shape, {name: file for name, file in files.items()
                                      if file})
        self.mille("run", case["model"], "--target=reference", "--inputs", inputs,
                   "--outputs", outputs, "--only=last_hidden_state")
        with open(outputs, "rb") as file, open(path, "wb") as out:
            (length,) = struct.unpack("<Q", file.read(8))
            file.seek(8 + length)
            out.write(file.read())

    def compared(self, worker, case, reference):
        saved = os.path.join(case["work"], "result")
        worker.ask("save", saved)
        rows = mask_of(case) if case["mask"] else None
        difference, away = agreement.compare(agreement.read(saved, rows),
                                             agreement.read(reference, rows))
        return {"difference": difference, "away": away,
                "agrees": agreement.agrees(case["dtype"], difference, away)}

    def table(self, title, case, paired=False, names=None):
        """All peers, or `names`, on one case. paired: one peer at a time beside
        Mille, for models that do not fit into memory as often as there are peers."""
        say(title)
        names = names or self.options.peers
        reference, by = self.reference(case)
        # A thousand layers take seconds, and vary less.
        turns = self.options.rounds if case_gflop(case) < 100 else min(
            self.options.rounds, 3)
        measured = []

        def between():
            measured.append(self.ceilings(case["threads"],
                                          rounds.cores(case["threads"])))

        others = [name for name in names if name != "mille"]
        groups = [["mille", name] for name in others] if paired and others else [names]
        rows, opened = {}, {}
        if paired:
            self.close_group(opened)  # the reference's
        for group in groups:
            self.open_group(group, case, reference, rows, opened)
            if opened:
                times = rounds.measure(opened, turns, self.options.seconds,
                                       between)
                keep_times(rows, times)
            if paired:
                self.close_group(opened)
        return self.finished(title, case, names, rows, measured, by)

    def open_group(self, group, case, reference, rows, opened):
        for name in group:
            if name in opened or "refused" in rows.get(name, {}):
                continue
            try:
                worker, answer = self.open(name, case)
                rows.setdefault(name, {"first_s": answer["seconds"],
                                       "device": answer["device"],
                                       "peak_gflops": answer["peak_gflops"],
                                       "differs_in": answer["differs_in"],
                                       "rounds": []}).update(
                    self.compared(worker, case, reference))
                opened[name] = worker
            except Refused as reason:
                rows[name] = {"refused": str(reason)}

    def close_group(self, opened):
        """Closes all workers but Mille's, which the next pair needs."""
        for key in list(self.workers.all):
            if key[0] != "mille":
                self.workers.drop(key)
        for name in list(opened):
            if name != "mille":
                del opened[name]

    def finished(self, title, case, names, rows, measured, by):
        def middle(pick):
            found = [pick(one) for one in measured if pick(one)]
            return statistics.median(found) if found else None

        return {"title": title, "dtype": case["dtype"], "batch": case["batch"],
                "tokens": case["tokens"], "threads": case["threads"],
                "layers": models.shape_of(case["model"])["layers"],
                "gflop": case_gflop(case),
                "peak_gflops": middle(lambda one: one["peak_gflops"][case["dtype"]]),
                "round_trip_ns": middle(lambda one: one["round_trip_ns"]),
                "compared_with": by,
                "rows": [dict(rows[name], name=name) for name in names]}


def keep_times(rows, times):
    for name, one in times.items():
        rows[name]["rounds"] += one
        if "mille" in times:
            rows[name]["ratio"] = rounds.ratio(one, times["mille"])


def ids_for(model, batch, tokens):
    """Ids of a text for the checkpoint that reads text, else random ids."""
    if models.reads_text(model):
        return [one for index in range(batch)
                for one in text_ids.sequence(tokens, index)]
    draw, below = random.Random(1234), models.shape_of(model)["vocab"]
    return [draw.randrange(min(5, below - 1), below) for _ in range(batch * tokens)]


def case_gflop(case):
    lengths = case["lengths"] or [case["tokens"]] * case["batch"]
    return models.gflop(models.shape_of(case["model"]), lengths)


def mask_of(case):
    return [int(token < length) for length in case["lengths"]
            for token in range(case["tokens"])]


def reference_path(case):
    return case["ids"] + ("-masked" if case["mask"] else "") + "-reference"


def forget_references(case):
    """Removes the references of other ids, with a mask and without."""
    for one in [reference_path(case), reference_path(dict(case, mask=None)),
                reference_path(dict(case, mask=True))]:
        if os.path.exists(one + ".json"):
            os.remove(one + ".json")


def write_integers(path, numbers):
    """Writes the numbers unless the file holds them; whether it changed."""
    data = array.array("i", numbers).tobytes()
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == data:
                return False
    with open(path, "wb") as file:
        file.write(data)
    return True


def write_tensors(path, shape, files):
    """A safetensors file of i32 tensors, of one shape, from files of them."""
    header, data = {}, b""
    for name, one in files.items():
        with open(one, "rb") as file:
            part = file.read()
        header[name] = {"dtype": "I32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
