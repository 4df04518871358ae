#!/bin/sh
# Real GGUFs of PyPI, continued from 20 prompts, 64 greedy tokens each, beside a llama.cpp
# on the same numbers in F32; beams beside transformers. By hand: some minutes, 4 GB of
# disk. Changes nothing outside a folder of its own.
#   tools/check-generate.sh [FOLDER [all]]   keeps what it downloads and makes in FOLDER,
# which may be that of tools/check-gguf.sh. SmolLM2-135M-Instruct; all: Gemma 3 270M and
# Qwen2.5-Coder-0.5B-Instruct too (745 MB to download, 8 GB of disk, half an hour)
set -eu
cd "$(dirname "$0")/.."
mille=$PWD/build/bin/mille
inputs=$PWD/test
. tools/real-model.sh
enter_folder ${1:+"$1"}
venv/bin/pip install -q numpy gguf ik-llama-cpp-python==0.1.5

# continue_model NAME WIDE TYPE=MARGIN...: $model in each type. Leaves generate-NAME-TYPE.
continue_model() {
  name=$1 wide=$2
  shift 2
  [ -e "$wide" ] ||
    venv/bin/python "$inputs/compiler/import/Inputs/gguf-real.py" widen "$model" "$wide"
  for type in "$@"; do
    package=generate-$name-${type%=*}
    "$mille" compile "$model" -o "$package" --name=model --entries=next \
      --dtype="${type%=*}"
    printf '%s, %s: ' "$name" "${type%=*}"
    venv/bin/python "$inputs/tools/Inputs/generate-real.py" "$mille" "$package" \
      "$wide" "${type#*=}" 2>> peer.log
  done
}

if [ "${2:-}" = all ]; then
  fetch_gemma3
  continue_model gemma3 wide-gemma.gguf f32=1e-4 bf16=0.02 stored=0.05
  fetch_qwen2
  continue_model qwen2 wide-qwen2.gguf f32=1e-4
fi
fetch_smollm2
continue_model smollm2 wide.gguf f32=1e-4 bf16=0.02 int8=0.05
# A text's logits beside the reference in double.
PYTHONPATH=$inputs/Inputs python3 - "$mille" generate-smollm2-f32 "$inputs/../docs/architecture.md" <<'E'
import array, subprocess, sys, tensors
mille, package, text = sys.argv[1:]
said = subprocess.run([mille, "tokens", package, "--encode=" + open(text).read(400)],
                      check=True, capture_output=True, text=True).stdout
ids = [int(word) for word in said.split(",")][:24]
tensors.save("ids.safetensors", {"input_ids": (
    "I32", [1, len(ids)], array.array("i", ids).tobytes())})
E
for type in bf16 stored q8_0 q4_0 q4_k; do
  rm -rf verified
  "$mille" compile "$model" -o verified --name=model --dtype=$type
  "$mille" verify verified --inputs=ids.safetensors
done
# What test/examples/smollm2.test asks for.
"$mille" compile "$model" -o smollm2-extend --name=m --entries=next,extend --dtype=f32
PYTHONPATH=$inputs/Inputs venv/bin/python "$inputs/examples/Inputs/smollm2.py" make \
  "$mille" smollm2-extend wide.gguf > smollm2.json 2>> peer.log
python3 "$inputs/examples/Inputs/smollm2.py" check "$mille" smollm2-extend 1e-4 1e-3 2 \
  smollm2.json .

# Beams beside transformers, of every encoder-decoder of test/conformance.
venv/bin/pip install -q torch transformers
rm -rf beams && mkdir beams
venv/bin/python "$inputs/tools/Inputs/beams-answers.py" 40 2 bart bart_scaled_relu \
  m2m_100 marian mbart mt5 pegasus t5_gated_gelu_untied t5_relu_tied umt5 whisper \
  > beams.json 2>> peer.log
python3 "$inputs/tools/Inputs/beams.py" "$mille" beams.json beams
