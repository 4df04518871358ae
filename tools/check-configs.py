#!/usr/bin/env python3
"""Configurations that no case has: those of test/conformance with one or two keys
changed, compiled with random weights and compared with the reference.

  check-configs.py MILLE [--each=N] [--seed=N] [CASE ...]
  check-configs.py MILLE --each-key [CASE ...]

Each is compiled, verified, or refused by import with a sentence. What a later stage
refuses is listed. Anything else (a crash, a difference, a status of 3 or 4) is a
failure, and so is the exit status then. Run by hand: a configuration takes seconds.

--each-key: every key of every family by itself gets other values, also of other types,
and is imported only (5000 imports, two minutes). A key that changes nothing is listed, to
be judged: the family's own code may leave it out, too. Other statuses than 0 and 1 fail.
"""
import collections
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, os.pardir, "test", "conformance")
ACTIVATIONS = ["relu", "gelu", "gelu_new", "silu", "quick_gelu", "tanh"]
SILENT = ("version", "token_id", "layers", "torch_dtype", "initializer")


def changes(config, path=()):
    """(path, new value) for every key that can be changed."""
    for key, value in config.items():
        if any(word in key for word in SILENT):
            continue
        place = path + (key,)
        if isinstance(value, dict):
            yield from changes(value, place)
        elif isinstance(value, bool):
            yield place, [not value]
        elif isinstance(value, int):
            near = {value - 1, value + 1, value + 2, 2 * value, 3 * value,
                    value // 2}
            yield place, sorted(n for n in near if 0 <= n < 512)
        elif isinstance(value, float) and value > 1e-3:
            yield place, [value / 2, value * 1.5]
        elif isinstance(value, str) and "act" in key:
            yield place, ACTIVATIONS


def changed(config, draw):
    config = json.loads(json.dumps(config))
    said = []
    every = [(place, news) for place, news in changes(config) if news]
    for place, news in draw.sample(every, min(draw.randint(1, 2), len(every))):
        inner = config
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = draw.choice(news)
        said.append(f"{'.'.join(place)}={json.dumps(inner[place[-1]])}")
    return config, " ".join(said)


def run(*words):
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=1800)
    except subprocess.TimeoutExpired:
        return 124, "no end after 1800 s"
    return done.returncode, done.stderr + done.stdout


def outcome(mille, folder):
    """What happens, and what was told."""
    status, told = run(mille, "compile", folder, "--weights=random:5",
                       "--stop-after=import")
    if status:
        plain = status == 1 and "error: " in told
        return ("refused" if plain else "FAILED import"), told
    package = os.path.join(folder, "package")
    status, told = run(mille, "compile", folder, "--weights=random:5",
                       "--target=host", "-o", package)
    if status:
        plain = status == 1 and "error: " in told
        return ("refused late" if plain else "FAILED compile"), told
    status, told = run(mille, "verify", package, "--threads=2")
    return ("verified" if status == 0 else "FAILED verify"), told


def leaves(config, path=()):
    for key, value in config.items():
        if isinstance(value, dict):
            yield from leaves(value, path + (key,))
        else:
            yield path + (key,), value


def others(value):
    """Other values of a key, of its type and of others."""
    if isinstance(value, bool):
        return [not value, 3]
    if isinstance(value, int):
        return [value + 1, 2 * value + 2, True, [value], -1]
    if isinstance(value, float):
        return [value * 1.5 + 0.125, "x", [value]]
    if isinstance(value, list):
        return [value[:-1], value + value[:1], 3, ["x"]] if value else [[3]]
    return ["x", 7, True]


def imported(mille, config):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "model")) # its name is the model's
        with open(os.path.join(folder, "model", "config.json"), "w") as file:
            json.dump(config, file)
        done = subprocess.run([mille, "compile", os.path.join(folder, "model"),
                               "--weights=random:5", "--stop-after=import"],
                              capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def each_key(mille, names):
    seen, failures = set(), 0
    for name in names:
        with open(os.path.join(CASES, name, "config.json")) as file:
            config = json.load(file)
        usual = imported(mille, config)
        for place, value in leaves(config):
            one = (config["model_type"], place, type(value))
            if one in seen or any(word in place[-1] for word in SILENT):
                continue
            seen.add(one)
            same = []
            for other in others(value):
                new = json.loads(json.dumps(config))
                inner = new
                for key in place[:-1]:
                    inner = inner[key]
                inner[place[-1]] = other
                status, text, told = imported(mille, new)
                if status not in (0, 1):
                    failures += 1
                    print(f"FAILED import: {name} {'.'.join(place)}={other}\n{told[:600]}")
                if status == 0 and text == usual[1]:
                    same.append(other)
            if same:
                print(f"nothing changes: {name} {'.'.join(place)} is "
                      f"{json.dumps(value)}, also {json.dumps(same)}", flush=True)
    print(f"{len(seen)} keys, {failures} failures")
    return failures


def tally(counts):
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))


def main(arguments):
    options = dict(word[2:].partition("=")[::2] for word in arguments
                   if word[:2] == "--")
    words = [word for word in arguments if word[:2] != "--"]
    draw = random.Random(int(options.get("seed", 1)))
    names = words[1:] or sorted(
        os.path.basename(os.path.dirname(path))
        for path in glob.glob(os.path.join(CASES, "*", "config.json")))
    if "each-key" in options:
        return each_key(words[0], names) > 0
    counts = collections.Counter()
    for number, name in enumerate(names):
        if number % 20 == 19:
            print(tally(counts), flush=True) # a run that is ended has a count, too
        with open(os.path.join(CASES, name, "config.json")) as file:
            config = json.load(file)
        for _ in range(int(options.get("each", 1))):
            new, said = changed(config, draw)
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "config.json"), "w") as file:
                    json.dump(new, file, indent=1)
                what, told = outcome(words[0], folder)
            counts[what] += 1
            if what not in ("verified", "refused"):
                print(f"{what}: {name} {said}\n{told[:600]}", flush=True)
    print(tally(counts))
    return any(what.startswith("FAILED") for what in counts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
