#!/bin/sh
# Conversations in published chat templates: what Mille renders beside transformers'
# apply_chat_template, in the templates that llama.cpp and trl hold as their families
# published them. By hand: a minute, 300 MB of disk. Changes nothing outside a folder of
# its own.
#   tools/check-chats.sh [FOLDER [SEED [COUNT]]]   keeps what it downloads in FOLDER
set -eu
cd "$(dirname "$0")/.."
programs=$PWD/build/test/programs
inputs=$PWD/test/text/Inputs
seed=${2:-1} count=${3:-60}
. tools/real-model.sh
enter_folder ${1:+"$1"}

venv/bin/pip install -q transformers==5.24.0 jinja2==3.1.6 tokenizers
source=llama_cpp_python-0.3.36
if [ ! -d $source ]; then
  [ -e $source.tar.gz ] ||
    venv/bin/pip download -q --no-deps --no-binary=:all: llama-cpp-python==0.3.36
  echo "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e  $source.tar.gz" |
    sha256sum -c -
  tar xzf $source.tar.gz
fi
if [ ! -d trl ]; then
  fetch_wheel trl==1.16.0 trl
  echo "c4726e139dd40e1a41661511c639c8a68416782b2e3e8c0befebd77bb7ba0396 \
 trl-1.16.0-py3-none-any.whl" | sha256sum -c -
fi
llama=$source/vendor/llama.cpp
venv/bin/python "$inputs/published_chats.py" chats.jsonl "$seed" "$count" \
  $llama/models/templates $llama/tests/test-chat-template.cpp trl/chat_templates
python3 "$inputs/check_chats.py" "$programs/text-lines" "$programs/write-tokens" \
  "$inputs/tokenizers/bert.json" chats.jsonl tokens > answers || true
unknown=': ! unsupported: the chat template'
grep -v "$unknown" answers > known || true
cat known
echo "$(grep -c "$unknown" answers) templates are refused; of $(grep -c ' equal, ' known) that" \
  "are known $(grep -c ' equal, [1-9][0-9]* differ' known) differ"
! grep -q ' equal, [1-9][0-9]* differ' known
