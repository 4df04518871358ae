#!/bin/sh
# Makes the Debian packages of build/, installs them into a clean Debian 12 and
# compiles, runs and embeds an example there. By hand, as root: some minutes.
#   tools/check-deb.sh [FOLDER]   leaves the packages in FOLDER
# Both systems take packages from where this machine's apt does.
set -eu
cd "$(dirname "$0")/.."
for tool in debootstrap dpkg-shlibdeps; do
  command -v "$tool" >/dev/null ||
    { echo "check-deb: install debootstrap and dpkg-dev first" >&2; exit 3; }
done
folder=$(mktemp -d)
trap 'rm -rf --one-file-system "$folder"' EXIT
packages=${1:-$folder/packages}
mkdir -p "$packages"
packages=$(cd "$packages" && pwd)
# What is installed, and no test.
cmake --build build --target mille mille-opt mille-lsp mille-reduce \
  command-files mille_runtime mille_runtime_shared mille_kernel_support \
  mille_text mille_generation mille_loader mille_loader_shared
(cd build && cpack -G DEB -B "$packages" >"$folder/log") ||
  { cat "$folder/log"; exit 1; }
rm -rf "$packages/_CPack_Packages"
ls -l "$packages"

clean=$folder/clean
mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/*.sources | head -n 1)
# shellcheck disable=SC2086
debootstrap --variant=minbase bookworm "$clean" $mirror >"$folder/log" ||
  { tail "$folder/log"; exit 1; }
rm -f "$clean/etc/apt/sources.list"
cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$clean/etc/apt/"
cp -L /etc/resolv.conf "$clean/etc/"
cp "$packages"/*.deb "$clean/tmp/"
cp examples/embed-in-c/main.c examples/embed-in-c/encoder.json "$clean/tmp/"
# The loader reads /proc to find the libraries beside a program.
unshare --mount sh -euc 'mount -t proc proc "$0/proc"
  exec chroot "$0" sh -euc "$1"' "$clean" '
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends gcc libc6-dev \
    /tmp/libmille_*.deb /tmp/libmille-dev_*.deb /tmp/mille_*.deb >/dev/null
  cd /tmp
  mille --version
  mille compile encoder.json -o encoder
  cc main.c -Iencoder encoder/encoder.a -o program -lm -lpthread
  ./program encoder/encoder.weights
  mille verify encoder
  dpkg -L mille | grep -E "man1/mille.1|completions/mille|bin/mille-lsp|libexec/mille-compiler|doc/mille/copyright"
  apt-get purge -y -qq mille libmille libmille-dev >/dev/null
  test ! -e /usr/bin/mille'
echo "check-deb: 1 passed, 0 failed"
