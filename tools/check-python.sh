#!/bin/sh
# Installs the wheel `mille` into an empty virtual environment and runs the tests
# of python/ there on small models. By hand: a minute.
#   tools/check-python.sh            builds the wheel; wants build/bin/mille
#   tools/check-python.sh FOLDER     takes `mille` and `mille-compiler` from
#                                    FOLDER, where tools/wheel.sh has put them
# PYTHON is the interpreter (python3). Words of WITH are installed as well: with
# WITH="torch jax halide" the tests beside these run too. SOAK=10000: so many
# requests are the load on the server.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
python=$folder/venv/bin/python
if [ $# -gt 0 ]; then
  "$python" -m pip install -q --no-deps --no-index --find-links "$1" \
    mille mille-compiler
  mille=$("$python" -c 'import mille_compiler; print(mille_compiler.command())')
else
  "$python" -m pip install -q --no-deps ./python
  mille=$PWD/build/bin/mille
fi
# shellcheck disable=SC2086
"$python" -m pip install -q "mille[text,serve]" pytest openai mypy ${WITH:-}
# What an editor makes of the installed package, the stub of its module in C++
# among it.
(cd "$folder" && "$python" -m mypy --config-file "$OLDPWD/python/pyproject.toml" \
  --cache-dir "$folder/mypy" -p mille)
MILLE=$mille \
  SPEC=$PWD/test/conformance/native/post_layer_norm/spec.json \
  DECODER=$PWD/test/conformance/llama_gqa MARIAN=$PWD/test/conformance/marian \
  CAUSAL=$PWD/test/tools/Inputs/causal.py \
  "$python" -m pytest -q -p no:cacheprovider python/tests
