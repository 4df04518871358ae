#!/bin/sh
# Random specs (test/models) of other seeds than the gate's:
#   tools/check-random.sh [FIRST-SEED] [LAST-SEED] [SPECS-OF-A-SEED] [COMPILED-OF-THESE]
# Ends at the first that differs and prints it, made small; else says how many agreed. A
# spec takes a tenth of a second, one that is compiled, too, some seconds.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
first=${1:-2} last=${2:-9}
# By name, the CPU's best set emulates what it lacks of bf16.
set=$(build/bin/mille devices | sed -n 's/^ *kernels *\([^ ]*\) *runs, chosen first.*/\1/p')
for seed in $(seq "$first" "$last"); do
  python3 test/models/Inputs/random_specs.py build/bin/mille \
    build/test/programs/stages-agree "$work" "$seed" "${3:-200}" "${4:-2}" "$set" |
    tee "$work/told" | sed "s/^/seed $seed: /"
  grep 'specs agree' "$work/told" >> "$work/sums" # a pipe has its last status
done
awk '{ specs += $1; trained += $4; compiled += $9; refused += $11 }
  END { print specs, "specs agree,", trained, "of them also trained,", compiled,
        "compiled,", refused, "more refused" }' "$work/sums"
