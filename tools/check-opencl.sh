#!/bin/sh
# Every conformance case, or those whose path contains a given word (=WORD: is that
# word), compiled for OpenCL and run on this machine's device. Exit 0 only when all
# pass.
#   tools/check-opencl.sh [--folder=DIR] [WORD...]
set -eu
cd "$(dirname "$0")/.."
mille=${MILLE:-build/bin/mille}
work=build/test/opencl
case "${1:-}" in --folder=*) work=${1#--folder=}; shift ;; esac
rm -rf "$work"
mkdir -p "$work"

wanted() {
  [ $# -gt 1 ] || return 0
  name=$1
  shift
  for word; do
    case "$word" in
    =*) [ "$name" != "${word#=}" ] || return 0 ;;
    *) case "$name" in *"$word"*) return 0 ;; esac ;;
    esac
  done
  return 1
}

passed=0
failed=0
for found in $(find test/conformance -name case.json | sort); do
  folder=$(dirname "$found")
  name=${folder#test/conformance/}
  wanted "$name" "$@" || continue
  # Some cases say that they are not compiled.
  if grep -qs reference_only "$folder/lit.local.cfg"; then continue; fi
  model=$folder
  [ ! -e "$folder/spec.json" ] || model=$folder/spec.json
  options= # of compile, where a case has its own
  [ ! -e "$folder/lit.local.cfg" ] ||
    options=$(sed -n 's/.*"%options", "\(.*\)".*/\1/p' "$folder/lit.local.cfg")
  package=$work/package
  rm -rf "$package"
  if $mille compile "$model" -o "$package" --name=model --hidden-states \
       --target=opencl $options >"$work/log" 2>&1 &&
     $mille run "$package" --hidden-states --inputs "$folder/inputs.safetensors" \
       --outputs "$work/got.safetensors" >>"$work/log" 2>&1 &&
     /usr/bin/python3 test/conformance/check.py "$folder" \
       "$work/got.safetensors" >>"$work/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $name"
    tail -n 12 "$work/log" | sed 's/^/  /'
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
