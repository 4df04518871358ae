#!/bin/sh
# Kills compiles at a hundred random moments, and more beside another file; as root
# also fills a disk of 1 MB and writes to one that is read-only. By hand: minutes.
# Changes nothing outside a folder of its own.
set -eu
cd "$(dirname "$0")/.."
mille=$PWD/build/bin/mille
model=$PWD/test/conformance/native/pre_layer_norm/spec.json
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 test/compiler/link/Inputs/kill.py "${1:-100}" "$folder/new/package" \
  "$mille" "$model"

if [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null; then
  unshare -m sh -eu -c '
    refused() {
      status=0
      "$1" compile "$2" --target=x86-64-v3 --name=m -o "$3" 2> "$4" || status=$?
      cat "$4"
      [ "$status" = 3 ] || { echo "exit status is $status but 3 is expected"; exit 1; }
    }
    mkdir "$3/disk"
    mount -t tmpfs -o size=1m none "$3/disk"
    dd if=/dev/zero of="$3/disk/full" bs=1k count=900 2> /dev/null
    refused "$1" "$2" "$3/disk/package" "$3/text"
    [ "$(ls -A "$3/disk")" = full ]
    mount -o remount,ro "$3/disk"
    refused "$1" "$2" "$3/disk/package" "$3/text"
    refused "$1" "$2" "$3/disk" "$3/text"
  ' sh "$mille" "$model" "$folder"
  echo "a full disk and one that is read-only: exit 3, nothing left"
else
  echo "not root: no disk was filled"
fi
