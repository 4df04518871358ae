#!/bin/sh
# Hopper kernels in the emulator, by hand: every tile of every op of the tests, at odd
# sizes, under more schedules than the gate has, and each guard left out. 8 minutes.
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

# guards KNOWN ARGUMENTS...: leaves out each guard in turn. One whose loss nobody notices is a
# failure, unless it is KNOWN.
guards() {
  known=$1
  shift
  out=$("$emulate" "$@" --seeds=2 --break=all 2>&1)
  missed=$(echo "$out" | grep "NOT CAUGHT" | grep -v "without $known ")
  if [ -n "$missed" ] || ! echo "$out" | grep -q "guards matter"; then
    failures=$((failures + 1))
    echo "FAILED: mille-emulate $* --break=all"
    echo "$out" | grep "^kernel\|NOT CAUGHT\|error" | head -20
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
for rows in 5 12 33; do # the paths of few rows
  guards none "$here/kernel-ops.mlir" --function=deep --class=few --rows=$rows
done
# Tiles of `whole` lie inside of the out; a panel outside would need no wait.
guards none test/compiler/nvvm/Inputs/matmuls.mlir --function=whole --class=many --tiles --rows=513 --units=1
# With more than 3 blocks of keys the wait for room for values implies that for keys (wait:1),
# so that one is left out in a launch of 3 blocks.
guards wait:1 "$sequences" --function=full --tiles --rows=257 --keys=1200 --units=1
run "$sequences" --function=full --rows=257 --keys=300 --units=1 --seeds=2 --break=wait:1
guards none "$sequences" --function=causal --tiles --rows=700 --units=1
guards none "$sequences" --function=norm --rows=65

# Kinds of kernels that are too slow for the gate (test/compiler/nvvm/kinds-guards.test has the
# others): clusters that share a tile's columns; products of f32 by parts, whose groups that
# multiply read the out's rows after what a producer has waited for (wait:17); heads of 256
# columns, 80 keys at a time; few rows of bytes, with K long enough for rings to wrap.
nvvm=test/compiler/nvvm/Inputs
guards none "$nvvm/matmuls.mlir" --function=long --class=many --tiles --rows=257
guards wait:17 "$nvvm/parts.mlir" --function=long --class=many --rows=257 --units=1
guards none "$nvvm/small-sequences.mlir" --function=full_256 --rows=130 --keys=500 --units=1
deep=$(mktemp --suffix=.mlir)
sed 's/1024/8192/g' "$nvvm/bytes.mlir" >"$deep"
guards none "$deep" --function=deep --class=few --rows=12
rm -f "$deep"
# Whole models: the residual after a norm, which makes errors of attention large; and a term
# by key that heads share, with large values. All cases, in an hour and more:
# tools/check-dtypes.py --emulate --dtype=bf16 build/bin/mille
if ! tools/check-dtypes.py --emulate --dtype=bf16 build/bin/mille doge res_post_layer_norm; then
  failures=$((failures + 1))
  echo "FAILED: models"
fi
echo "$failures failed"
[ "$failures" = 0 ]
