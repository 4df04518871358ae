#!/usr/bin/env python3
"""Whisper tiny.en on recordings: examples/speech-in-c beside transformers and
CTranslate2, one thread each. Called by tools/check-speech.sh.

usage: speech-real.py SPEECH FROM FOLDER PACKAGE DTYPE WAV...

FROM is CTranslate2's folder, FOLDER what whisper.py made of it, PACKAGE what compile made
of that. Fails where a text is another than transformers'.
"""
import os
import statistics
import subprocess
import sys
import wave

os.environ["OMP_NUM_THREADS"] = "1"
import numpy
import torch
from transformers import AutoTokenizer, WhisperFeatureExtractor, \
    WhisperForConditionalGeneration
import ctranslate2

BEGIN = [50257, 50362]  # <|startoftranscript|><|notimestamps|>


def samples_of(path):
    with wave.open(path) as file:
        return numpy.frombuffer(file.readframes(file.getnframes()),
                                numpy.int16).astype(numpy.float32) / 32768


def timed(run):
    """CPU time, of the processes that it starts too: all have one thread."""
    began = sum(os.times()[:4])
    answer = run()
    return answer, sum(os.times()[:4]) - began


def main(speech, source, folder, package, dtype, *recordings):
    torch.set_num_threads(1)
    extract = WhisperFeatureExtractor(feature_size=80)
    model = WhisperForConditionalGeneration.from_pretrained(
        folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    theirs = ctranslate2.models.Whisper(
        source, device="cpu", intra_threads=1,
        compute_type="int8" if dtype == "int8" else "float32")
    weights = os.path.join(package, "whisper.weights")
    tokens = os.path.join(package, "whisper.tokens")
    failed, times = 0, {"mille": [], "CTranslate2": [], "torch": []}

    def mels_of(path):
        return extract(samples_of(path), sampling_rate=16000,
                       return_tensors="np").input_features.astype(numpy.float32)

    def by_torch(path):
        with torch.no_grad():
            return model.generate(
                torch.tensor(mels_of(path)), max_new_tokens=200, num_beams=1,
                decoder_input_ids=torch.tensor([BEGIN]))[0].tolist()

    def by_ctranslate(path):
        mels = ctranslate2.StorageView.from_array(mels_of(path))
        return theirs.generate(mels, [BEGIN], beam_size=1)[0].sequences_ids[0]

    def by_mille(path):
        return subprocess.run([speech, weights, tokens, path], capture_output=True,
                              check=True, text=True).stdout.strip()

    for path in recordings:
        said = {}
        for name, run in (("torch", by_torch), ("CTranslate2", by_ctranslate),
                          ("mille", by_mille)):
            answer, seconds = timed(lambda: run(path))
            said[name] = answer if name == "mille" else \
                tokenizer.decode(answer, skip_special_tokens=True).strip()
            times[name].append(seconds)
        print(f"{dtype} {os.path.basename(path)}: {said['mille']}")
        for name in ("torch", "CTranslate2"):
            if said[name] != said["mille"]:
                print(f"  {name}: {said[name]}")
        failed += said["torch"] != said["mille"]
    print(f"{dtype}: {failed} of {len(recordings)} texts differ from torch's; median CPU seconds: "
          + ", ".join(f"{name} {statistics.median(all):.3f}" for name, all in times.items())
          + " (mille's is a whole process, the others' models are loaded)")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
