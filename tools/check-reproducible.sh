#!/bin/sh
# The build is reproducible: the committed tree, built in two folders whose names differ in
# length, gives the same files. tools/check-reproducible.sh [COMPONENT]: `runtime`, with
# what programs are linked with, which takes a minute, or `tools`, which takes 12 minutes
# of a processor; both without. The first build takes what the compiler cache has, which
# was compiled in other folders at other times, and says how much that was. The second
# compiles all.
set -eu
cd "$(dirname "$0")/.."
source=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
components=${1:-runtime tools}
for name in first the-second-of-two; do
  tree=$folder/$name
  mkdir "$tree"
  git archive HEAD | tar -x -C "$tree"
  ln -s "$source/third_party" "$tree/third_party"
  [ "$name" = first ] || export CCACHE_DISABLE=1
  (
    cd "$tree"
    TZ=$([ "$name" = first ] && echo UTC || echo Asia/Tokyo)
    export TZ CCACHE_STATSLOG="$folder/$name.stats"
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
[ ! -e "$folder/first.stats" ] || echo "first: $(grep -c '_cache_hit$' "$folder/first.stats") \
files from the compiler cache, $(grep -c '^cache_miss$' "$folder/first.stats") compiled"
count=$(wc -l < "$folder/first.sums")
diff "$folder/first.sums" "$folder/the-second-of-two.sums"
echo "$count files, 0 differ"
[ "$count" -gt 0 ]
