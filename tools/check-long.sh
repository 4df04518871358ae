#!/bin/sh
# Tests that take minutes: attention in narrow types on every instruction set that this
# CPU has, not only on its best; exp, tanh, erf, gelu and others against double, at every
# float of the ranges that kernels reach. By hand, after tools/check.sh has built them.
set -eu
cd "$(dirname "$0")/.."
"$(sed -n 's/^MILLE_LIT:.*=//p' build/CMakeCache.txt)" -v --param long=1 \
  build/test/numerics
for isa in x86-64-v3 widest; do
  build/test/programs/kernel-functions "$isa" every "${1:-1}"
done
