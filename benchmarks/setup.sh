#!/bin/sh
# A Python environment with the peers, in build/benchmarks/venv (or $1).
#   benchmarks/setup.sh && build/benchmarks/venv/bin/python benchmarks/compare.py
set -eu
cd "$(dirname "$0")/.."
folder=${1:-build/benchmarks/venv}
[ -x "$folder/bin/python" ] || python3 -m venv "$folder"
exec "$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
  --only-binary=:all: -r benchmarks/requirements.txt
