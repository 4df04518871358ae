#!/bin/sh
# Every conformance case, or those whose path contains a given word, compiled for CUDA in
# f32 and bf16 and run on this machine's device, beside the cases' answers.
#   tools/check-cuda.sh [WORD...]                 both halves
#   tools/check-cuda.sh compile DIR [WORD...]     only compiles: DIR holds what runs
#   tools/check-cuda.sh assemble DIR              every PTX module of DIR through ptxas
#   tools/check-cuda.sh run DIR [WORD...]         runs DIR; needs python3 and NumPy, no Mille
#   tools/check-cuda.sh sanitize DIR [WORD...]    runs DIR's cases under memcheck, racecheck and
#       synccheck of $SANITIZER (compute-sanitizer): name small ones, which take minutes
#   tools/check-cuda.sh decoders DIR [WORD...]    compiles decoders with their entries extend
#       and next; `tools/cuda/generate.py check DIR` runs them, as `run` does
# $MILLE names the compiler, $DTYPES what it compiles ("f32 bf16").
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mille=${MILLE:-$root/build/bin/mille}
half=both
folder=$root/build/test/cuda
case "${1:-}" in
compile | assemble | run | sanitize | decoders)
  half=$1
  folder=$2
  shift 2
  ;;
esac

wanted() {
  name=$1
  shift
  [ $# -gt 0 ] || return 0
  for word; do
    case "$name" in *"$word"*) return 0 ;; esac
  done
  return 1
}

compile() {
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$root/build/lib/libmille_loader.so.0" "$folder/libmille_loader.so"
  compiled=0
  failed=0
  for found in $(find "$root/test/conformance" -name case.json | sort); do
    case_folder=$(dirname "$found")
    name=${case_folder#"$root/test/conformance/"}
    wanted "$name" "$@" || continue
    local_config=$case_folder/lit.local.cfg
    # Some cases say that they are not compiled.
    if grep -qs reference_only "$local_config"; then continue; fi
    model=$case_folder
    [ ! -e "$case_folder/spec.json" ] || model=$case_folder/spec.json
    options= # of compile, where a case has its own
    [ ! -e "$local_config" ] ||
      options=$(sed -n 's/.*"%options", "\(.*\)".*/\1/p' "$local_config")
    for dtype in ${DTYPES:-f32 bf16}; do
      package=$folder/$(echo "$name" | tr / +).$dtype
      if $mille compile "$model" -o "$package" --name=model --hidden-states \
        --target=cuda --dtype="$dtype" $options >"$folder/log" 2>&1; then
        compiled=$((compiled + 1))
        rm -f "$package"/model.a "$package"/model.h "$package"/model.mlir
      else
        failed=$((failed + 1))
        rm -rf "$package"
        echo "FAILED $name in $dtype"
        tail -n 4 "$folder/log" | sed 's/^/  /'
      fi
    done
  done
  rm -f "$folder/log"
  echo "$compiled compiled, $failed failed"
  [ "$failed" = 0 ] && [ "$compiled" != 0 ]
}

# The decoders of the cases, and Llamas whose keys fill several stretches.
decoders() {
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$root/build/lib/libmille_loader.so.0" "$folder/libmille_loader.so"
  for shape in 64-8-2 128-3-1 80-4-4; do # columns of a head, heads, of keys
    heads=${shape#*-}
    mkdir -p "$folder/long-$shape.model"
    cat >"$folder/long-$shape.model/config.json" <<END
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 128,
 "num_hidden_layers": 2, "num_attention_heads": ${heads%-*},
 "num_key_value_heads": ${heads#*-}, "head_dim": ${shape%%-*}, "vocab_size": 256,
 "intermediate_size": 256, "max_position_embeddings": 2048, "hidden_act": "silu",
 "rms_norm_eps": 1e-5, "rope_theta": 500000.0}
END
  done
  compiled=0
  for model in "$folder"/*.model "$root"/test/conformance/*/config.json; do
    name=$(basename "${model%.model}")
    weights=--weights=random:1
    if [ "${model%config.json}" != "$model" ]; then
      model=$(dirname "$model")
      name=$(basename "$model")
      weights=
    fi
    wanted "$name" "$@" || continue
    for dtype in ${DTYPES:-f32 bf16}; do
      package=$folder/$name.$dtype
      if $mille compile "$model" -o "$package" --name=model --entries=extend,next \
        --target=cuda --dtype="$dtype" $weights >"$folder/log" 2>&1; then
        compiled=$((compiled + 1))
        rm -f "$package"/model.a "$package"/model.h "$package"/model.mlir
      else
        rm -rf "$package"
        echo "$name in $dtype: $(head -n 1 "$folder/log")"
      fi
    done
  done
  rm -rf "$folder/log" "$folder"/*.model
  echo "$compiled compiled"
  [ "$compiled" != 0 ]
}

case $half in
compile) compile "$@" ;;
decoders) decoders "$@" ;;
assemble)
  ptxas=${MILLE_PTXAS:-$(PATH=$PATH:/usr/local/cuda/bin command -v ptxas)}
  python3 "$root/tools/cuda/modules.py" "$folder" "$folder.ptx" --ptxas="$ptxas"
  ;;
run) python3 "$root/tools/cuda/cases.py" "$folder" "$@" ;;
sanitize)
  for tool in memcheck racecheck synccheck; do
    echo "$tool"
    "${SANITIZER:-compute-sanitizer}" --tool "$tool" --target-processes all --error-exitcode 1 \
      python3 "$root/tools/cuda/cases.py" "$folder" --jobs=1 "$@"
  done
  ;;
both)
  compile "$@"
  python3 "$root/tools/cuda/cases.py" "$folder"
  ;;
esac
