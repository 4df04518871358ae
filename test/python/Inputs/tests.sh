# Runs tests of python/tests with Debian's interpreter on the module of the build.
#   tests.sh MILLE SOURCE BUILD FOLDER WORD...    words for pytest
set -eu
mille=$1 source=$2 build=$3 folder=$4
shift 4
rm -rf "$folder"
mkdir -p "$folder/mille"
cp -r "$source"/python/mille/* "$build"/python/mille/_mille*.so "$folder/mille"
cd "$source/python/tests"
MILLE=$mille SPEC=$source/test/conformance/native/post_layer_norm/spec.json \
  DECODER=$source/test/conformance/llama_gqa \
  MARIAN=$source/test/conformance/marian \
  CAUSAL=$source/test/tools/Inputs/causal.py TMPDIR=$folder \
  PYTHONPATH=$folder:$source/third_party/python PYTHONDONTWRITEBYTECODE=1 \
  exec /usr/bin/python3 -m pytest -q -p no:cacheprovider "$@"
