#!/bin/sh
# Hopper kernels in the emulator, by hand: every tile of every op of the tests, at odd
# sizes, under more schedules than the gate has, and each guard left out. 20 minutes.
#
#   tools/check-emulate.sh [FILE.mlir ...]
set -u
cd "$(dirname "$0")/.." || exit 3
emulate=build/bin/mille-emulate
here=test/compiler/emulate
failures=0

# Prints what does not pass.
run() {
  if ! out=$("$emulate" "$@" 2>&1); then
    failures=$((failures + 1))
    echo "FAILED: mille-emulate $*"
    echo "$out" | grep -v "passed with\|caught with" | head -20
  fi
}

functions() { sed -n 's/^func.func @\([a-z_0-9]*\)(.*/\1/p' "$1"; }

[ $# -gt 0 ] || set -- "$here/kernel-ops.mlir" "$here/Inputs/sequences.mlir"
for file in "$@"; do
  for function in $(functions "$file"); do
    [ "$function" = packed ] && continue # declined
    run "$file" --function="$function" --tiles --rows=1,63,129,257,513 --seeds=5
    echo "$file: $function"
  done
done

# Sizes at which rings wrap and a block has several tiles.
sequences=$here/Inputs/sequences.mlir
run "$sequences" --function=full --rows=258 --sequences=2 --keys=513 --seeds=5
run "$sequences" --function=masked --rows=258 --sequences=2 --keys=513 --seeds=5
run "$here/kernel-ops.mlir" --function=deep --tiles --rows=129 --units=1 --seeds=2 --break=all
run "$sequences" --function=full --tiles --rows=257 --keys=1200 --units=1 --seeds=2 --break=all
run "$sequences" --function=causal --tiles --rows=700 --units=1 --seeds=2 --break=all
run "$sequences" --function=norm --rows=65 --seeds=2 --break=all
echo "$failures failed"
[ "$failures" = 0 ]
