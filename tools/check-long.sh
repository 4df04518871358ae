#!/bin/sh
# Tests that take minutes: every case of the kernels' tests on every instruction set whose
# kernels this CPU runs, for the gate makes each for one or two; attention in narrow types
# and conformance with AVX-512 and without; launches of a layer of
# GPT-2 on a device; a model of 768 channels in each type 1000 times, on 1 to 16 threads in
# batches of 1 to 17; exp, tanh, erf, gelu and others against double, at every float there
# is (of sin and cos to 8192).
# By hand, after tools/check.sh has built them.
set -eu
cd "$(dirname "$0")/.."
lit=$(sed -n 's/^MILLE_LIT:.*=//p' build/CMakeCache.txt)
"$lit" -v --param long=1 build/test/numerics
for isa in x86-64-v3 host; do
  "$lit" -sv --param target=$isa build/test/conformance
done
# A CPU with AVX-512's bf16 runs the kernels of all sets, AMX emulated.
sets="x86-64-v3 widest" tiles=
if grep -qw avx512_bf16 /proc/cpuinfo; then
  sets="x86-64-v3 x86-64-v4 cascadelake zen4 zen5" tiles=sapphirerapids
fi
for isa in $sets $tiles; do
  for name in attention attention-backward blocks narrow panels; do
    build/test/programs/kernel-$name $isa
  done
  for operands in scores sight; do
    build/test/programs/kernel-attention-operands $isa $operands f32 long
  done
done
for operands in ${tiles:+scores sight}; do
  for element in bf16 bytes; do
    build/test/programs/kernel-attention-operands $tiles $operands $element long
  done
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 test/tools/Inputs/depth.py build/bin/mille "$work" test/conformance/gpt2 n_layer |
  tee "$work/log"
grep -q "each layer 7.0" "$work/log"
grep -q "code equal" "$work/log"
build/test/programs/kernel-hostile x86-64-v3
python3 test/tools/Inputs/wider.py examples/embed-in-c/encoder.json 768 > "$work/wide.json"
for dtype in f32 bf16 int8; do
  build/bin/mille compile "$work/wide.json" --target=host --dtype=$dtype -o "$work/$dtype"
  python3 test/runtime/Inputs/same-bits.py build/bin/mille "$work/$dtype" "$work" \
    test/Inputs/tensors.py 7 1000
done
for isa in x86-64-v3 widest; do
  for floats in every all; do # those of the ranges, with their bounds, and all
    build/test/programs/kernel-functions "$isa" "$floats" "${1:-1}"
  done
done
