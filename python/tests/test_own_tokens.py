"""Ids by the package's own vocabulary, which must be those of `tokenizers`. The
tokenizers and the hard texts are those of test/text. MILLE: the command that
compiles."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tokenizers
from tiny import POSITIONS, bert, sentences

import mille
from mille import tokens

INPUTS = pathlib.Path(__file__).parents[2] / "test" / "text" / "Inputs"
sys.path.insert(0, str(INPUTS))
from corpus import TEXTS  # noqa: E402

# Characters that all versions of Unicode agree on, and some that they do not.
SETTLED = [*map(chr, range(0x250)), *map(chr, range(0x2010, 0x2028)), "\u20ac"]
OTHERS = ["\u0250", "\u200f", "\u2028", "\u20ab", "\u20ad", "\u0301",
          "\U0001f600", "\u4e2d", "\U00011f02", "\u1e9e", "\ud800"]


@pytest.fixture(scope="module", autouse=True)
def command():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MILLE_COMPILER", os.environ["MILLE"])
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return sentences(bert(tmp_path_factory.mktemp("models") / "bert"),
                     {"pooling_mode_mean_tokens": True})


@pytest.fixture(scope="module")
def package(folder, tmp_path_factory):
    return mille.compile(folder, tmp_path_factory.mktemp("made") / "p",
                         progress=False)


def whole(path, most):
    made = tokenizers.Tokenizer.from_file(str(path))
    made.no_padding()
    made.enable_truncation(most)
    return made


@pytest.mark.parametrize("name", ["bert", "bert_cased", "xlm_roberta", "gpt2",
                                  "llama3", "t5"])
def test_same_ids(folder, tmp_path, name):
    copy = shutil.copytree(folder, tmp_path / "model")
    shutil.copy(INPUTS / "tokenizers" / f"{name}.json", copy / "tokenizer.json")
    made = mille.compile(copy, tmp_path / "package", progress=False)
    texts = TEXTS + SETTLED + [f"a{one}b {one} C{one}" for one in SETTLED]
    for most in (4, 100000):
        own = tokens.Tokenizer(str(copy), made, most)
        assert own._own and not own._whole
        wanted = whole(copy / "tokenizer.json", most)
        for text, one, other in zip(texts, own.encode_batch(texts),
                                    wanted.encode_batch(texts)):
            assert one.ids == other.ids, text
            assert one.type_ids == other.type_ids
            assert one.attention_mask == other.attention_mask


def test_who_reads_what(package, folder):
    own = tokens.of_package(tokens.file_of(folder), package)
    assert own.ends == 2
    asked = SETTLED + [f"a {one} b" for one in SETTLED]
    assert None not in own.encode(asked, 9)
    for one in OTHERS:
        assert own.encode([f"red {one}", "red"], 9) == [None, [2, 7, 3]], one
    assert own.encode([("red", "red"), 3, None], 9) == [None] * 3
    assert own.encode(["red " * 9], 5) == [[2, 7, 7, 7, 3]]
    assert own.encode(["red " * 9], 2) == [[2, 3]]
    with pytest.raises(mille.InvalidArgument, match="is 1 tokens but each"):
        own.encode(["red"], 1)


def run(code, *words):
    return subprocess.run([sys.executable, "-c", code, *map(str, words)],
                          capture_output=True, text=True)


def test_without_tokenizers(package, folder):
    done = run("""if True:
        import sys
        sys.modules["tokenizers"] = None
        import mille
        made = mille.Encoder(sys.argv[1])
        print(made.encode(["red house", "caf\\u00e9"]).shape)
        made.encode("\\u4e2d")""", package.path)
    assert done.stdout == "(2, 16)\n"
    assert "pip install 'mille[text]'" in done.stderr
    done = run("import sys, mille; mille.Encoder(sys.argv[1]).encode('red');"
               "print('tokenizers' in sys.modules, 'pathlib' in sys.modules)",
               package.path)
    assert done.stdout.startswith("False"), done


def test_a_changed_tokenizer_counts(package, folder, tmp_path):
    before = mille.Encoder(package.path).encode(["red", "blue"])
    copy = shutil.copytree(folder, tmp_path / "model")
    path = copy / "tokenizer.json"
    text = path.read_text()
    path.write_text(text.replace('"red"', '"?"').replace('"blue"', '"red"')
                    .replace('"?"', '"blue"'))
    made = mille.Encoder(package.path, copy)
    assert made._runner.tokenizer._own is None
    assert np.array_equal(made.encode(["blue", "red"]), before)
    path.write_text(text[:-9])
    with pytest.raises(mille.InvalidArgument, match="tokenizer.json: "):
        mille.Encoder(package.path, copy)
    path.unlink()
    with pytest.raises(mille.FileError, match="has no tokenizer.json"):
        mille.Encoder(package.path, copy)


def test_a_damaged_vocabulary(package, folder, tmp_path):
    copy = pathlib.Path(shutil.copytree(package.path, tmp_path / "package"))
    file, = copy.glob("*.tokens")
    whole = file.read_bytes()
    for bad in (whole[:-1], whole[:99] + b"?" + whole[100:], b""):
        file.write_bytes(bad)
        with pytest.raises(mille.InvalidArgument, match=f"{file}: the tokens "):
            mille.Encoder(copy, folder)
    file.unlink()
    with pytest.raises(mille.FileError, match=f"cannot read {file}: No such"):
        mille.Encoder(copy, folder)


@pytest.mark.parametrize("change", [
    # A token's type that is not 0, which the vocabulary does not have.
    lambda made: made.update(post_processor={
        "type": "TemplateProcessing", "pair": [], "single": [
            {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 1}}], "special_tokens": {
                "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}}}),
    # A pre-tokenizer that the text room lacks: the package has no vocabulary.
    lambda made: made.update(pre_tokenizer={
        "type": "UnicodeScripts"}),
])
def test_what_the_vocabulary_lacks(folder, tmp_path, change):
    copy = shutil.copytree(folder, tmp_path / "model")
    path = copy / "tokenizer.json"
    made = json.loads(path.read_text())
    change(made)
    path.write_text(json.dumps(made))
    package = mille.compile(copy, tmp_path / "package", progress=False)
    assert "tokenizer_hash" not in package.manifest
    encoder = mille.Encoder(package.path)
    one = whole(path, 8).encode("red_tree")
    session = package.session(batch=1, tokens=POSITIONS)
    wanted = session(input_ids=np.array([one.ids], np.int32),
                     token_type_ids=np.array([one.type_ids], np.int32))
    assert np.allclose(encoder.encode("red_tree"), rtol=0, atol=1e-6,
                       b=wanted["last_hidden_state"][0].mean(axis=0))
