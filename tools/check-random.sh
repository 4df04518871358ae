#!/bin/sh
# Random specs (test/models) of other seeds than the gate's, each compiled, too:
#   tools/check-random.sh [FIRST-SEED] [LAST-SEED] [SPECS-OF-A-SEED] [COMPILED]
# Ends at the first that differs and prints it, made small. A compiled spec takes seconds.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for seed in $(seq "${1:-2}" "${2:-9}"); do
  echo "seed $seed"
  python3 test/models/Inputs/random_specs.py build/bin/mille build/bin/mille-opt \
    test/Inputs/tensors.py "$work" "$seed" "${3:-25}" "${4:-25}" host
done
