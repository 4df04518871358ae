"""The texts that llama.cpp keeps beside a vocabulary, and its ids of them, by hand:
compare_gguf.py TEXT-LINES TOKENS FILE.gguf (with FILE.gguf.inp and .out)"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check import SPECIAL, ask  # noqa: E402


def main():
    program, tokens, path = sys.argv[1:]
    with open(path + ".inp", "rb") as file:
        texts = file.read().split(b"\n__ggml_vocab_test__\n")
    with open(path + ".out") as file:
        wanted = [line.split() for line in file.read().split("\n")]
    failures = 0
    given = ask(program, tokens, [f"encode {SPECIAL} {t.hex()}" for t in texts])
    for text, got, want in zip(texts, given, wanted):
        if got.split(",") != (want or [""]):
            failures += 1
            print(f"  {text!r}\n    is  {got}\n    not {','.join(want)}")
    print(f"{os.path.basename(path)}: {len(texts)} texts, {failures} differ")


if __name__ == "__main__":
    main()
