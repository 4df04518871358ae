"""Trains the small tokenizers of this test, and writes what `tokenizers` answers.

By hand, where `tokenizers` is installed: make_tokenizers.py FOLDER. Trained on
the texts of corpus.py; every pre-tokenizer, normalizer and decoder is said as the
family's own tokenizer.json says it."""
import base64
import json
import os
import struct
import sys
import unicodedata

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, processors, trainers)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from corpus import SPECIALS, TEXTS, corpus  # noqa: E402

QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
         r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3 = QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
WORDS = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}"
         r"\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s|%s| ?[^\s\p{L}\p{N}]+"
         r"[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = WORDS % (SUFFIX, SUFFIX, r"\p{N}{1,3}")
TEKKEN = WORDS % ("", "", r"\p{N}")
DEEPSEEK_V3 = [r"\p{N}{1,3}", r"[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
               r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"""
               r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
               r"\s*[\r\n]+|\s+(?!\S)|\s+"]
DEEPSEEK_LLM = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+",
                r"[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"]

PLAIN = list(TEXTS) + ["the a of and to in is it on for with as was that this"] * 4


def isolated(*patterns):
    return [pre_tokenizers.Split(Regex(p), "isolated") for p in patterns]


def byte_level(name, pre, size=700, normalizer=None, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.train_from_iterator(PLAIN, trainers.BpeTrainer(
        vocab_size=size, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.add_special_tokens(SPECIALS[:3] + SPECIALS[8:9])
    tokenizer.add_tokens([AddedToken("<tool>", normalized=False),
                          AddedToken("</tool>", single_word=True)])
    return name, tokenizer


def last(*pres, **byte_level):
    byte_level.setdefault("add_prefix_space", False)
    return pre_tokenizers.Sequence(
        [*pres, pre_tokenizers.ByteLevel(trim_offsets=True, **byte_level)])


def byte_levels():
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False)
    yield byte_level("gpt2", plain)
    yield byte_level("gpt2_prefix", pre_tokenizers.ByteLevel())
    yield byte_level("qwen2", last(*isolated(QWEN2), use_regex=False),
                     normalizer=normalizers.NFC())
    name, llama3 = byte_level("llama3", last(*isolated(LLAMA3), use_regex=False),
                              ignore_merges=True)
    bos = llama3.token_to_id("<|endoftext|>")
    llama3.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(
            single="<|endoftext|> $A", pair="<|endoftext|> $A $B",
            special_tokens=[("<|endoftext|>", bos)])])
    yield name, llama3
    yield byte_level("deepseek_v3", last(*isolated(*DEEPSEEK_V3), use_regex=False))
    yield byte_level("deepseek_llm", last(
        *isolated(*DEEPSEEK_LLM), pre_tokenizers.Digits(True), use_regex=False))
    yield byte_level("gpt_oss", last(pre_tokenizers.Split(
        Regex(O200K), "removed", invert=True), use_regex=False))
    yield byte_level("tekken", last(*isolated(TEKKEN), use_regex=False),
                     ignore_merges=True)
    yield byte_level("starcoder2", last(pre_tokenizers.Digits(True)))
    yield byte_level("olmo", plain, normalizer=normalizers.NFC())


def sentencepiece_bpe(name, prepend, metaspace=None):
    """Llama 2 (Prepend, Replace), Gemma (Replace) or Mistral (Metaspace)."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    if metaspace:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
            prepend_scheme=metaspace, split=False)
    else:
        steps = [normalizers.Prepend("\u2581")] if prepend else []
        tokenizer.normalizer = normalizers.Sequence(
            steps + [normalizers.Replace(" ", "\u2581")])
    trainer = trainers.BpeTrainer(
        vocab_size=900, show_progress=False, limit_alphabet=150,
        special_tokens=["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)])
    words = [word for text in PLAIN for word in text.split(" ")]
    tokenizer.train_from_iterator(words, trainer)
    model = json.loads(tokenizer.to_str())
    model["model"]["byte_fallback"] = True
    model["added_tokens"] = [t for t in model["added_tokens"]
                             if not t["content"].startswith("<0x")]
    for token in model["added_tokens"]:
        token["rstrip"] = name == "mistral" and token["content"] == "</s>"
    tail = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    model["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "ByteFallback"}, {"type": "Fuse"}] + (tail if prepend else [])}
    model["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                   {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                 {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}
    return name, Tokenizer.from_str(json.dumps(model))


def double_array(entries):
    """SentencePiece's precompiled map of {text: text}, with a trie of Darts."""
    texts, offsets = b"", {}
    for key in sorted(entries):
        offsets[key] = len(texts)
        texts += entries[key].encode() + b"\0"
    tree = {}
    for key in sorted(entries):
        node = tree
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[None] = offsets[key]
    units, used = {0: 0}, {0}

    def place(at, node):
        labels = [0 if k is None else k for k in node]
        base = 1
        while any((base ^ label) in used for label in labels) or \
                not 0 < (base ^ at) < 1 << 21:
            base += 1
        used.update(base ^ label for label in labels)
        units[at] |= (base ^ at) << 10 | ((None in node) << 8)
        for key, child in node.items():
            if key is None:
                units[base] = child | 1 << 31
            else:
                units[base ^ key] = key
        for key, child in node.items():
            if key is not None:
                place(base ^ key, child)

    place(0, tree)
    size = max(units) + 256 & ~255
    array = b"".join(struct.pack("<I", units.get(i, 0)) for i in range(size))
    return base64.b64encode(struct.pack("<I", len(array)) + array + texts).decode()


def charsmap():
    letters = {c for text in TEXTS for c in text if c != "\0"}
    letters |= {chr(c) for c in range(0xff01, 0xff5f)}
    entries = {c: unicodedata.normalize("NFKC", c) for c in letters}
    entries.update({"e\u0301": "\u00e9", "A\u030a": "\u00c5", "\t": " ",
                    "\n": " ", "\r": " ", "\u200b": "", "\u00ad": ""})
    return double_array({k: v for k, v in entries.items() if k != v})


def unigram(name, pre, decoder, ends, byte_fallback=False):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre
    tokenizer.train_from_iterator(PLAIN, trainers.UnigramTrainer(
        vocab_size=500, show_progress=False, unk_token="<unk>",
        special_tokens=["<pad>", "</s>", "<unk>", "<s>"] + (
            ["<0x%02X>" % b for b in range(256)] if byte_fallback else [])))
    model = json.loads(tokenizer.to_str())
    kept = [pair for pair in model["model"]["vocab"] if pair[0] not in "\u4e2d\u0e01q"]
    model["model"].update(vocab=[[t, round(s, 4)] for t, s in kept],
                          byte_fallback=byte_fallback)
    model["added_tokens"] = [t for t in model["added_tokens"]
                             if not t["content"].startswith("<0x")]
    model["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Precompiled", "precompiled_charsmap": charsmap()},
        {"type": "Strip", "strip_left": False, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "\u2581"}]}
    tokenizer = Tokenizer.from_str(json.dumps(model))
    tokenizer.decoder = decoder
    end = tokenizer.token_to_id("</s>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=ends, pair="$A $B",
        special_tokens=[("</s>", end), ("<s>", tokenizer.token_to_id("<s>"))])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return name, tokenizer


def wordpiece(name, lowercase, **normalizer):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase, **normalizer)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=lowercase)
    tokenizer.train_from_iterator(PLAIN, trainers.WordPieceTrainer(
        vocab_size=900, show_progress=False,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return name, tokenizer


def odds_and_ends():
    """What few files have, in one tokenizer."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(),
        normalizers.Strip(), normalizers.Replace(Regex(r"\d+"), "0"),
        normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(),
        pre_tokenizers.Split("-", "merged_with_previous"),
        pre_tokenizers.Split(Regex("[aeiou]{2}"), "merged_with_next"),
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.CharDelimiterSplit("z")])
    tokenizer.decoder = decoders.BPEDecoder()
    tokenizer.train_from_iterator(PLAIN, trainers.BpeTrainer(
        vocab_size=600, show_progress=False, limit_alphabet=120,
        end_of_word_suffix="</w>", special_tokens=["<unk>"]))
    tokenizer.add_tokens([AddedToken("TOOL", normalized=True, rstrip=True)])
    return "odds", tokenizer


def tokenizers():
    yield from byte_levels()
    yield sentencepiece_bpe("llama2", prepend=True)
    yield sentencepiece_bpe("gemma", prepend=False)
    yield sentencepiece_bpe("mistral", prepend=True, metaspace="first")
    meta = pre_tokenizers.Metaspace(prepend_scheme="always")
    yield unigram("t5", pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), meta]), decoders.Metaspace(), "$A </s>")
    yield unigram("xlm_roberta", meta, decoders.Metaspace(), "<s> $A </s>",
                  byte_fallback=True)
    yield wordpiece("bert", lowercase=True)
    yield wordpiece("bert_cased", lowercase=False, handle_chinese_chars=False,
                    clean_text=False)
    yield odds_and_ends()


def answers(tokenizer):
    rows = []
    for raw in corpus():
        text = raw.decode("utf-8", errors="replace")
        tokenizer.encode_special_tokens = False
        row = {"text": raw.hex(),
               "ids": tokenizer.encode(text, add_special_tokens=False).ids,
               "ends": tokenizer.encode(text).ids}
        tokenizer.encode_special_tokens = True
        row["plain"] = tokenizer.encode(text, add_special_tokens=False).ids
        for key, skip in ("decoded", False), ("bare", True):
            row[key] = tokenizer.decode(row["ends"], skip_special_tokens=skip)
        # What is the same is said once.
        rows.append({key: value for key, value in row.items()
                     if not (key in ("ends", "plain") and value == row["ids"] or
                             key == "bare" and value == row["decoded"])})
    return rows


def main():
    folder = sys.argv[1]
    for name, tokenizer in tokenizers():
        with open(os.path.join(folder, name + ".json"), "w") as file:
            json.dump(json.loads(tokenizer.to_str()), file, ensure_ascii=False,
                      separators=(",", ":"))
        with open(os.path.join(folder, name + ".answers"), "w") as file:
            for row in answers(tokenizer):
                file.write(json.dumps(row, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
