#!/bin/sh
# From a fresh machine to a running model: set-up, build, and one example
# compiled, run, checked against the reference, and measured.
#   tools/quickstart.sh [FOLDER]     where the package goes; build/quickstart
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/quickstart}
spec=examples/deepnorm-encoder/deepnorm-encoder.json
inputs=test/conformance/native/deepnet_encoder/inputs.safetensors

say() { printf '\n== %s\n' "$*"; }

say "set-up and build"
if [ ! -e build/bin/mille ]; then
  # 9 minutes of one core where nothing is in the compiler's cache.
  cores=$(nproc)
  echo "a build from nothing takes about $(((9 + cores - 1) / cores)) minutes" \
    "on the $cores cores of this machine, and some to fetch packages"
fi
tools/setup.sh
mkdir -p build
cmake --preset release >build/configure.log 2>&1 ||
  { cat build/configure.log; exit 1; }
python3 tools/build-bar.py build/build.log \
  cmake --build build --target mille mille-opt
mille=build/bin/mille

say "mille compile $spec -o $out"
"$mille" compile "$spec" -o "$out"
ls -l "$out"

say "mille run $out: 2 sequences of 9 tokens"
"$mille" run "$out" --inputs "$inputs" --outputs "$out/outputs.safetensors"
ls -l "$out/outputs.safetensors"

say "mille verify $out: compiled code against the reference in double"
"$mille" verify "$out" --inputs "$inputs"

say "mille report $out: what was fused"
"$mille" report "$out"

say "mille bench $out: and how close to this machine's peak it runs"
"$mille" bench "$out" --batch=1 --tokens=128 --threads=1
