#!/bin/sh
# The build is reproducible: the committed tree, built here and, from nothing and without
# the compiler cache, in a folder elsewhere, in another time zone, gives the same files.
#   tools/check-reproducible.sh [runtime|tools] ...     both without
# runtime, with what programs are linked with, takes a minute, tools 12 minutes of a
# processor where this tree is built. KEEP=FOLDER: the other build stays there, to be
# looked at or taken up again.
set -eu
cd "$(dirname "$0")/.."
git diff --quiet HEAD || { echo "the tree has changes that are not committed"; exit 1; }
components=${*:-runtime tools}
folder=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT
other=$folder/a-folder-elsewhere
if [ ! -d "$other" ]; then
  mkdir -p "$other"
  git archive HEAD | tar -x -C "$other"
  ln -s "$PWD/third_party" "$other/third_party"
fi

# Builds and installs, in the current folder, what the components need: FOLDER/NAME.sums.
made() {
  rm -rf "$folder/$1"
  cmake --preset release > "$folder/$1.log"
  for component in $components; do
    case $component in
      runtime) installed="runtime development"
        targets="mille_runtime mille_runtime_shared mille_kernel_support mille_text
        mille_generation mille_loader mille_loader_shared" ;;
      *) installed=$component
        targets="mille mille-opt mille-lsp mille-reduce command-files" ;;
    esac
    # shellcheck disable=SC2086
    cmake --build build --target $targets >> "$folder/$1.log"
    for part in $installed; do
      cmake --install build --component "$part" --prefix "$folder/$1" >> "$folder/$1.log"
    done
  done
  (cd "$folder/$1" && find . -type f | sort | xargs sha256sum) > "$folder/$1.sums"
}

made here
(cd "$other" && export CCACHE_DISABLE=1 TZ=Asia/Tokyo && made elsewhere)
count=$(wc -l < "$folder/here.sums")
diff "$folder/here.sums" "$folder/elsewhere.sums"
echo "$count files, 0 differ"
[ "$count" -gt 0 ]
