#!/bin/sh
# Everything the build needs, on Debian 12 as root: packages, and Halide's wheel
# in third_party/. Takes no time when all is there; builds nothing.
#   tools/setup.sh tests     also the browser in which tests open pages
set -eu
cd "$(dirname "$0")/.."
case $* in
  "" | tests) ;;
  *) echo "setup: takes nothing or the word 'tests', not '$*'" >&2; exit 2 ;;
esac

packages="cmake ninja-build ccache g++ clang-22 clang-format-22 lld-22 libclang-rt-22-dev
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev
  libsimdjson-dev libcli11-dev libpcre2-dev libutf8proc-dev libjemalloc-dev libgtest-dev
  libbenchmark-dev pkgconf
  python3 python3-pip python3-psutil python3-dev python3-numpy python3-pytest python3-jinja2
  opencl-headers ocl-icd-libopencl1 pocl-opencl-icd oclgrind
  libjs-chart.js"
[ "${1:-}" != tests ] || packages="$packages chromium-headless-shell"

missing=""
for package in $packages; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
  if [ "$(id -u)" != 0 ]; then
    echo "setup: these packages are missing and only root can install them:$missing" >&2
    exit 3
  fi
  echo "setup: installing$missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq </dev/null
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $missing </dev/null
fi

# No Python environment is touched. The wheel holds libHalide.so and its headers.
if [ ! -e third_party/halide/lib64/libHalide.so ] ||
   [ ! -d third_party/halide-21.0.0.dist-info ]; then
  echo "setup: Halide 21.0.0 into third_party/"
  mkdir -p third_party
  /usr/bin/python3 -m pip install --quiet --upgrade --target third_party \
    --no-deps --only-binary=:all: --python-version 3.11 \
    --platform manylinux_2_28_x86_64 --disable-pip-version-check \
    --root-user-action=ignore --require-hashes -r tools/halide.txt </dev/null
fi

# The wheels that tools/NAME.txt pins lie in third_party/NAME, with that list.
holds() { cmp -s "tools/$1.txt" "third_party/$1/$1.txt"; }
# Puts them there; words after NAME are pip's.
fetch() {
  name=$1
  shift
  rm -rf "third_party/$name"
  /usr/bin/python3 -m pip install --quiet --target "third_party/$name" \
    --no-deps --only-binary=:all: --disable-pip-version-check \
    --root-user-action=ignore --require-hashes -r "tools/$name.txt" "$@" </dev/null
  cp "tools/$name.txt" "third_party/$name/"
}

# NVIDIA's assembler and disassembler, where this machine lacks one: the tests of
# compiler/nvvm run them. Their licence forbids to ship them, so users bring their own.
has() { PATH=$PATH:/usr/local/cuda/bin command -v "$1" >/dev/null; }
if { ! has ptxas || ! has nvdisasm; } && ! holds cuda; then
  echo "setup: ptxas and nvdisasm into third_party/cuda"
  fetch cuda --platform manylinux_2_17_x86_64 --python-version 3.11
fi

# What the tests of python/ need beside Debian's NumPy and pytest.
if ! holds python; then
  echo "setup: nanobind, tokenizers and a web server into third_party/python"
  fetch python
fi

# The weights of real models: an encoder, on which tests judge what is lost by each type,
# and a GGUF, which they continue.
if [ "${1:-}" = tests ] && ! holds minilm; then
  echo "setup: all-MiniLM-L6-v2 into third_party/minilm"
  fetch minilm
fi
if [ "${1:-}" = tests ] && ! holds smollm2; then
  echo "setup: SmolLM2-135M-Instruct into third_party/smollm2"
  fetch smollm2
fi
