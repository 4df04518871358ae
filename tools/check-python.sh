#!/bin/sh
# Builds the wheel `mille` (python/), installs it into an empty virtual environment and
# runs its tests there on a small model. By hand: half a minute. Wants build/bin/mille.
#   tools/check-python.sh [FOLDER]   leaves the wheel in FOLDER
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wheels=${1:-$folder/wheels}
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" wheel -q --no-deps -w "$wheels" ./python
wheel=$(echo "$wheels"/mille-*.whl)
"$folder/venv/bin/pip" install -q pytest "$wheel[text]"
ls -l "$wheels"
MILLE=$PWD/build/bin/mille \
  SPEC=$PWD/test/conformance/native/post_layer_norm/spec.json \
  DECODER=$PWD/test/conformance/llama_gqa \
  "$folder/venv/bin/python" -m pytest -q -p no:cacheprovider python/tests
