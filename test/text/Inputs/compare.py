"""Random texts through text-lines and through `tokenizers`, by hand:
compare.py TEXT-LINES TOKENS TOKENIZER.json SEED COUNT"""
import os
import random
import sys
import unicodedata

from tokenizers import Tokenizer

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check import check  # noqa: E402
from corpus import MALFORMED, TEXTS  # noqa: E402

# Debian's PCRE2 and utf8proc know Unicode 14, the normalizers of `tokenizers`
# less: characters that Python lacks are left out, and so are marks, punctuation
# and what normalizes to something else that Unicode 3.2 lacks.
RANGES = [(0x20, 0x7e), (0, 0x1f), (0x80, 0x24f), (0x300, 0x36f), (0x370, 0x5ff),
          (0x600, 0x6ff), (0x900, 0x97f), (0xe00, 0xe7f), (0x1100, 0x11ff),
          (0x2000, 0x206f), (0x2070, 0x22ff), (0x2460, 0x24ff), (0x3000, 0x30ff),
          (0x3400, 0x9fff), (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xfe00, 0xfeff),
          (0xff00, 0xffef), (0x1d400, 0x1d7ff), (0x1f300, 0x1faff),
          (0x10000, 0x1ffff), (0x20000, 0x2a6df), (0xe0000, 0xe01ef)]


def character(draw):
    low, high = draw.choice(RANGES)
    one = chr(draw.randint(low, high))
    category = unicodedata.category(one)
    plain = category[0] not in "MP" and unicodedata.normalize("NFKC", one) == one
    known = category not in ("Cn", "Cs") and (
        plain or unicodedata.ucd_3_2_0.category(one) == category)
    return one if known else draw.choice(" \n\ta1.'")


def fragment(draw):
    kind = draw.random()
    if kind < 0.35:
        text = draw.choice(TEXTS)
        at = draw.randrange(len(text) + 1)
        return text[at:at + draw.randint(0, 20)].encode()
    if kind < 0.75:
        return "".join(character(draw) for _ in range(draw.randint(1, 6))).encode()
    if kind < 0.9:
        return (draw.choice(" \n\t\r\u3000\u00a01a'.-") * draw.randint(1, 9)).encode()
    if kind < 0.95:
        return draw.choice(["'s", "'S", "'re", "'LL", "'\u017f", "\u212a", "<tool>",
                            "</s>", "<mask>", "\u2581", "<0x0A>"]).encode()
    return draw.choice(MALFORMED)[:draw.randint(1, 9)]


def main():
    program, tokens, path, seed, count = sys.argv[1:]
    draw = random.Random(int(seed))
    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    rows = []
    for _ in range(int(count)):
        raw = b"".join(fragment(draw) for _ in range(draw.randint(1, 8)))
        text = raw.decode("utf-8", errors="replace")
        tokenizer.encode_special_tokens = False
        row = {"text": raw.hex(),
               "ids": tokenizer.encode(text, add_special_tokens=False).ids,
               "ends": tokenizer.encode(text).ids}
        tokenizer.encode_special_tokens = True
        row["plain"] = tokenizer.encode(text, add_special_tokens=False).ids
        row["decoded"] = tokenizer.decode(row["ends"], skip_special_tokens=False)
        row["bare"] = tokenizer.decode(row["ends"], skip_special_tokens=True)
        rows.append(row)
    asked, failures = check(program, tokens, rows)
    print(f"{os.path.basename(path)}: {asked} answers on random texts, {failures} differ")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
