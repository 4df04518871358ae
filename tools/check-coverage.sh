#!/bin/sh
# Which lines of the compiler the light tests reach: builds it with counters
# (build-coverage, without optimisation), runs the tests of passes, dialects, importers,
# verifiers, exports, schemes and bad input, compiles the models of test/conformance as
# far as the host program and runs them on the reference, whose numbers the gate compares,
# and prints the share of each room. What makes kernels is left to its own tests, and
# runtime, text and generation are linked as applications have them: they are not counted.
#   tools/check-coverage.sh [TEST ...]   folders and files of test in place of those
# By hand: half an hour of a core, 4 GB of disk. Kernels come from the cache of
# build/test, where there is one. `llvm-cov show` tells the lines that nothing reached
# from build-coverage/coverage.profdata.
set -eu
cd "$(dirname "$0")/.."
programs="differences driver-library import-windows lower-abi-types parameter-values
  projections scalar-derivative stages-agree in-double both-in-double weigh-blocks
  kernels-read-spec kernels-generators interpret-judge driver-certify driver-targets e4m3
  analyze-depth fuzz-json fuzz-safetensors fuzz-gguf fuzz-formula fuzz-manifest
  fuzz-assembly fuzz-interpret"
tests=${*:-dialects compiler/differentiate compiler/driver compiler/fuse compiler/import
  compiler/interpret compiler/kernels compiler/lower compiler/plan compiler/rewrite
  compiler/weights compiler/analyze badfiles fuzz models tools/export.test
  tools/init.test tools/init-errors.test tools/spec-page.test}
build=$PWD/build-coverage
cmake --preset coverage -DCMAKE_CXX_FLAGS_RELEASE="-O0 -DNDEBUG" > /dev/null
# shellcheck disable=SC2086
cmake --build "$build" --target mille mille-opt mille-spec-page $programs
if [ -d build/test/cache ] && [ ! -d "$build/test/cache" ]; then
  cp -r build/test/cache "$build/test/cache"
fi
rm -rf "$build/profiles"
export LLVM_PROFILE_FILE="$build/profiles/%4m.profraw"
lit=$(sed -n 's/^MILLE_LIT:.*=//p' "$build/CMakeCache.txt")
failed=0
# shellcheck disable=SC2086
(cd "$build/test" && "$lit" -sv $tests) || failed=1
for found in $(find test/conformance -name case.json | sort); do
  model=$(dirname "$found")
  options= # of compile, where a case has its own
  [ ! -e "$model/lit.local.cfg" ] ||
    options=$(sed -n 's/.*"%options", "\(.*\)".*/\1/p' "$model/lit.local.cfg")
  [ ! -e "$model/spec.json" ] || model=$model/spec.json
  # shellcheck disable=SC2086
  "$build/bin/mille" compile "$model" $options --hidden-states --stop-after=lower \
    > /dev/null || failed=1
  "$build/bin/mille" run --hidden-states --inputs "$(dirname "$found")/inputs.safetensors" \
    "$model" --target=reference --outputs "$build/outputs.safetensors" || failed=1
  # What a model has not, it refuses: status 1.
  for further in --train --entries=extend --image-size=any; do
    "$build/bin/mille" compile "$model" $further --stop-after=lower > /dev/null 2>&1 ||
      [ $? = 1 ] || failed=1
  done
done
llvm=$(dirname "$(readlink -f /usr/bin/clang++-22)")
"$llvm/llvm-profdata" merge -sparse "$build"/profiles/*.profraw \
  -o "$build/coverage.profdata"
objects=$(for program in $programs; do printf ' -object %s' "$build/test/programs/$program"; done)
# shellcheck disable=SC2086
"$llvm/llvm-cov" export -summary-only -instr-profile "$build/coverage.profdata" \
  "$build/bin/mille-opt" -object "$build/libexec/mille-compiler" $objects |
  python3 -c '
import collections, json, sys
root = sys.argv[1] + "/"
rooms = collections.defaultdict(lambda: [0, 0])
for file in json.load(sys.stdin)["data"][0]["files"]:
    path, lines = file["filename"], file["summary"]["lines"]
    words = path[len(root):].split("/")
    if not path.startswith(root) or words[0] not in ("compiler", "dialects") or \
            words[1] in ("halide", "nvvm", "emulate"):
        continue # LLVM, tests, what the build makes, what makes kernels
    verifies = words[0] == "dialects" and words[-1].startswith("Verify")
    for room in ["/".join(words[:2]), "all"] + ["dialects, Verify*"] * verifies:
        rooms[room][0] += lines["covered"]
        rooms[room][1] += lines["count"]
for room, (covered, count) in sorted(rooms.items()):
    print("%5.1f %% of %6d lines  %s" % (100 * covered / count, count, room))
' "$PWD"
exit $failed
