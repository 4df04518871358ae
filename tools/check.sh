#!/bin/sh
# The whole gate: set-up, build, every test. The last line is the count,
# `N passed, N failed`; exit 0 only when something ran and nothing failed.
set -eu
cd "$(dirname "$0")/.."

began=$(date +%s)
tools/setup.sh tests
mkdir -p build
cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }

cmake --build build
echo "check: set-up and build took $(($(date +%s) - began)) s"

# A compile waits for the disk, so one test more than there are cores keeps them busy.
began=$(date +%s)
rm -f build/test/results.json
LIT_OPTS="--workers=$(($(nproc) + 1)) ${LIT_OPTS:-} --output=$PWD/build/test/results.json" \
  cmake --build build --target check || true
# What is printed reads back: every module that mille-opt takes.
rm -f build/test/roundtrip.json
ROUNDTRIP=1 "$(sed -n 's/^MILLE_LIT:.*=//p' build/CMakeCache.txt)" -s \
  --filter='\.mlir' --output=build/test/roundtrip.json build/test/dialects \
  build/test/compiler/fuse build/test/compiler/rewrite \
  build/test/compiler/plan build/test/compiler/lower || true
echo "check: tests took $(($(date +%s) - began)) s"
exec /usr/bin/python3 tools/count-tests.py build/test/results.json \
  build/test/roundtrip.json
