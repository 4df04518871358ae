#!/usr/bin/env python3
"""What examples/speech-in-c is judged by. Standard library only.

  speech.py model CONFORMANCE FOLDER     a tiny Whisper that has a vocabulary
  speech.py sound FILE.wav SAMPLES       tones that change, and a sample of -1
  speech.py mels FILE.wav CONFIG OUT FIRST     OUT.safetensors of the sound from sample
      FIRST on, by the definition: a transform of complex numbers
  speech.py apart MELS.safetensors < NUMBERS     the largest distance of the two
"""
import array
import cmath
import json
import math
import os
import random
import shutil
import sys
import wave

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                                os.pardir, "Inputs"))
import tensors

MARKS = ["<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>"]


def model(source, folder):
    """Ids 0 to 39 are letters and digits, 40 the end; marks are behind it."""
    shutil.copytree(source, folder)
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    count, letters = config["vocab_size"], "abcdefghijklmnopqrstuvwxyz0123456789.,-+"
    marks = MARKS + [f"<|{i}|>" for i in range(count - len(letters) - len(MARKS))]
    ends = len(letters)
    config.update(eos_token_id=ends, bos_token_id=ends, pad_token_id=ends,
                  decoder_start_token_id=ends + 1,
                  suppress_tokens=list(range(ends + 1, count)))
    tokenizer = {
        "added_tokens": [{"id": ends + i, "content": mark, "special": True}
                         for i, mark in enumerate(marks)],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False,
                          "trim_offsets": True, "use_regex": True},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "merges": [],
                  "vocab": {letter: i for i, letter in enumerate(letters)}},
    }
    roles = {"eos_token": MARKS[0]}
    for name, content in (("config.json", config), ("tokenizer.json", tokenizer),
                          ("tokenizer_config.json", roles)):
        with open(os.path.join(folder, name), "w") as file:
            json.dump(content, file)


    widen(os.path.join(folder, "model.safetensors"))


def widen(path):
    """Larger numbers in matrices, so that what is said depends on what is heard."""
    draw = random.Random(1)
    found = tensors.load(path)
    for name, (shape, _kind, data) in found.items():
        if len(shape) > 1:
            data = array.array("f", (draw.gauss(0, 0.5) for _ in range(math.prod(shape))))
        found[name] = ("F32", shape, bytes(data))
    tensors.save(path, found)


def sound(path, count):
    samples = array.array("h", (
        round(9000 * math.sin(i * i / 9e4) + 5000 * math.sin(i / 3 + i // 700))
        for i in range(count)))
    samples[7] = -32768
    with wave.open(path, "wb") as file:
        file.setparams((1, 2, 16000, count, "NONE", ""))
        file.writeframes(samples.tobytes())


def mel_of(hertz):
    return hertz * 3 / 200 if hertz < 1000 else 15 + math.log(hertz / 1000, 6.4) * 27


def bands_of(bins):
    """Weights [bins][201] of Slaney's scale: its centres are equally far in mels."""
    step = mel_of(8000) / (bins + 1)
    centres = [m * 200 / 3 if m < 15 else 1000 * 6.4 ** ((m - 15) / 27)
               for m in (i * step for i in range(bins + 2))]
    return [[max(0.0, min((40 * k - low) / (centre - low), (high - 40 * k) / (high - centre)))
             * 2 / (high - low) for k in range(201)]
            for low, centre, high in zip(centres, centres[1:], centres[2:])]


def mels(path, config, out, first):
    with open(config) as file:
        config = json.load(file)
    bins, frames = config["num_mel_bins"], 2 * config["max_source_positions"]
    with wave.open(path) as file:
        samples = array.array("h", file.readframes(file.getnframes()))[first:]
    # Only what the last frame ends with is heard.
    heard = [s / 32768 for s in samples[:frames * 160]]
    heard += [0.0] * (frames * 160 + 200 - len(heard))
    heard = heard[200:0:-1] + heard
    turns = [cmath.exp(-2j * cmath.pi * i / 400) for i in range(400)]
    bands = bands_of(bins)
    levels = []
    for frame in range(frames):
        part = [s * (0.5 - 0.5 * math.cos(2 * math.pi * i / 400))
                for i, s in enumerate(heard[frame * 160:frame * 160 + 400])]
        energy = [abs(sum(s * turns[i * k % 400] for i, s in enumerate(part))) ** 2
                  for k in range(201)]
        levels.append([math.log10(max(1e-10, sum(w * e for w, e in zip(band, energy))))
                       for band in bands])
    largest = max(map(max, levels))
    numbers = array.array("f", ((max(levels[f][b], largest - 8) + 4) / 4
                                for b in range(bins) for f in range(frames)))
    tensors.save(out, {"input_features": ("F32", [1, bins, frames], numbers.tobytes())})


def apart(path):
    _shape, _kind, data = tensors.load(path)["input_features"]
    expected, got = array.array("f", bytes(data)), [float(line) for line in sys.stdin]
    if len(expected) != len(got):
        sys.exit(f"{len(got)} numbers, but {len(expected)} are expected")
    worst = max(abs(a - b) for a, b in zip(expected, got))
    print(f"{len(got)} numbers, {'at most' if worst < 2e-6 else 'MORE THAN'} 2e-6 apart")


def main(what, *arguments):
    if what == "model":
        model(*arguments)
    elif what == "sound":
        sound(arguments[0], int(arguments[1]))
    elif what == "apart":
        apart(*arguments)
    else:
        mels(*arguments[:3], int(arguments[3]))


if __name__ == "__main__":
    main(*sys.argv[1:])
