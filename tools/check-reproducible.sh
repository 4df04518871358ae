#!/bin/sh
# The build is reproducible: the committed tree, built in two folders whose names differ in
# length, gives the same files. tools/check-reproducible.sh [COMPONENT]: `runtime`, with
# what programs are linked with, which takes a minute, or `tools`; both without. Nothing
# comes from the compiler cache.
set -eu
cd "$(dirname "$0")/.."
source=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CCACHE_DISABLE=1
components=${1:-runtime tools}
for name in first the-second-of-two; do
  tree=$folder/$name
  mkdir "$tree"
  git archive HEAD | tar -x -C "$tree"
  ln -s "$source/third_party" "$tree/third_party"
  (
    cd "$tree"
    TZ=$([ "$name" = first ] && echo UTC || echo Asia/Tokyo)
    export TZ
    cmake --preset release > configure.log
    for component in $components; do
      case $component in
        runtime) installed="runtime development"
          targets="mille_runtime mille_runtime_shared mille_kernel_support
          mille_text mille_generation mille_loader mille_loader_shared" ;;
        *) installed=$component targets="mille mille-opt" ;;
      esac
      cmake --build build --target $targets > build.log
      for part in $installed; do
        cmake --install build --component "$part" --prefix installed >> install.log
      done
    done
    cd installed && find . -type f | sort | xargs sha256sum > "$folder/$name.sums"
  )
done
count=$(wc -l < "$folder/first.sums")
diff "$folder/first.sums" "$folder/the-second-of-two.sums"
echo "$count files, 0 differ"
[ "$count" -gt 0 ]
