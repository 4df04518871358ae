#!/bin/sh
# Tests that take minutes: attention in narrow types on every instruction set that this
# CPU has, not only on its best. By hand, after tools/check.sh has built them.
set -eu
cd "$(dirname "$0")/.."
exec "$(sed -n 's/^MILLE_LIT:.*=//p' build/CMakeCache.txt)" -v --param long=1 \
  build/test/numerics
