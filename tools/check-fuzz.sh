#!/bin/sh
# libFuzzer with AddressSanitizer and UBSan on the readers of users' files, each from the
# seeds of test/fuzz: tools/check-fuzz.sh [SECONDS-EACH]. What it finds is left in
# build-fuzz/found. Exit status 0 when nothing crashed.
set -eu
cd "$(dirname "$0")/.."
programs="fuzz-json fuzz-safetensors fuzz-gguf fuzz-formula fuzz-manifest fuzz-assembly
  fuzz-interpret fuzz-tokenizer fuzz-tokens fuzz-state"
cmake --preset fuzz
cmake --build build-fuzz --target $programs
mkdir -p build-fuzz/found
export ASAN_OPTIONS=detect_leaks=0:allow_user_poisoning=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
for program in $programs; do
  corpus=build-fuzz/corpus/$program
  mkdir -p "$corpus"
  seeds="test/fuzz/Inputs/${program#fuzz-}"
  [ -d "$seeds" ] || seeds=test/fuzz/Inputs/assembly # texts of modules
  "build-fuzz/test/programs/$program" -max_total_time="${1:-60}" -print_final_stats=1 \
    -artifact_prefix=build-fuzz/found/ "$corpus" "$seeds" \
    2>&1 | grep -E 'stat::number_of_executed_units|ERROR|SUMMARY' | sed "s/^/$program: /"
done
test -z "$(ls build-fuzz/found)"
