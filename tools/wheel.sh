#!/bin/sh
# Builds the wheels `mille` (python/) and `mille-compiler` (python/compiler) on
# Debian 12 as root, with the libraries that they need inside.
#   tools/wheel.sh [FOLDER]   where they go; build/wheels
# PYTHONS names the interpreters of the module: 3.12 serves all later versions,
# an older one itself. Every one that is there of python3 and python3.12 is meant
# where it is not set.
set -eu
cd "$(dirname "$0")/.."
wheels=${1:-build/wheels}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

tools/setup.sh
if [ ! -e build/build.ninja ]; then
  mkdir -p build
  cmake --preset release >build/configure.log 2>&1 ||
    { cat build/configure.log; exit 1; }
fi
cmake --build build --target mille

pythons=${PYTHONS:-}
if [ -z "$pythons" ]; then
  for python in python3 python3.12; do
    "$python" -c '' 2>/dev/null && pythons="$pythons $python"
  done
fi
python3 -m venv "$folder/tools"
"$folder/tools/bin/pip" install -q --require-hashes --only-binary=:all: \
  -r tools/wheel.txt
PATH="$folder/tools/bin:$PATH"

for python in $pythons; do
  "$python" -m pip wheel -q --no-deps -w "$folder/plain" ./python
done
python3 -m pip wheel -q --no-deps -w "$folder/plain" ./python/compiler
mkdir -p "$wheels"
rm -f "$wheels"/mille*.whl
for wheel in "$folder"/plain/*.whl; do
  auditwheel repair -w "$wheels" "$wheel"
done
ls -l "$wheels"
