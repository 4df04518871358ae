#!/bin/sh
# A Python environment with the peers, in build/benchmarks/venv (or $1).
#   benchmarks/setup.sh && build/benchmarks/venv/bin/python benchmarks/compare.py
set -eu
cd "$(dirname "$0")/.."
folder=${1:-build/benchmarks/venv}
[ -x "$folder/bin/python" ] || python3 -m venv "$folder"
install() {
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
    --only-binary=:all: "$@"
}
install -r benchmarks/requirements.txt
"$folder/bin/python" -c "import llama_cpp" 2>/dev/null && exit
echo "building llama.cpp for this machine, which takes minutes"
CMAKE_ARGS="-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF ${CMAKE_ARGS:-}" \
  install --no-binary=llama-cpp-python llama-cpp-python==0.3.36 ||
  echo "benchmarks/setup.sh: llama.cpp is not among the peers: it could not be built," \
    "see above; all others are ready" >&2
