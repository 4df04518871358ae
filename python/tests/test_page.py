"""The Python of docs/python.md runs as it stands there, on tiny models of the names that it
uses. MILLE: the command; DECODER, MARIAN: folders of small models; CAUSAL: the script of
small stacks."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tiny
from tiny import bert, sentences

import mille

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
IDS = np.array([[2, 5, 6, 3]], np.int32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the blocks name."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiny, "POSITIONS", 128)
        bert(folder / "model")
    sentences(bert(folder / "all-MiniLM-L6-v2"), {"pooling_mode_mean_tokens": True})
    bert(folder / "reranker", labels=1)
    bert(folder / "sentiment", labels=2)
    bert(folder / "ner", labels=3, tokens=True,
         id2label={"0": "O", "1": "B-PER", "2": "I-PER"})
    shutil.copytree(os.environ["MARIAN"], folder / "opus-mt")
    tiny.own_cache(folder)
    return folder


def test_every_block_is_run_here():
    assert len(BLOCKS) == 6


@pytest.mark.parametrize("block", BLOCKS, ids=lambda text: text.split("\n")[0][:30])
def test_block(folder, block, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MILLE_COMPILER", os.environ["MILLE"])
    if "trainer" not in block:  # its kernels are those of other tests
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    names = {"mille": mille, "ids": IDS, "mask": np.ones_like(IDS), "text": "blue house",
             "texts": ["blue house", "red"], "documents": ["red", "green tree", "house"]}
    if "package.generation" in block:
        names |= {"package": mille.compile(os.environ["DECODER"], entries="next"),
                  "ids": [1, 5, 2, 9]}
    elif "opus-mt" in block:
        # The small model has fewer tokens, and shorter texts.
        block = block.replace("58100", "0").replace("=64", "=40").replace("5, 40", "5, 8")
        names["ids"] = [5, 6, 7, 0]
    elif "trainer" in block:
        # Fewer steps, of shorter sequences.
        for word, other in [("500", "3"), ("16, 64", "16, 16"),
                            ("train=", "target='host', train="),
                            ("weights=", "target='host', weights=")]:
            block = block.replace(word, other)
        subprocess.run([sys.executable, os.environ["CAUSAL"], "spec", "gpt.json", "2",
                        "deepnorm"], check=True)
        names["ids"] = np.arange(120 * 16, dtype=np.int32).reshape(120, 16) % 64
        names["labels"] = (names["ids"] + 1) % 64
    elif "verify" in block:
        names["package"] = mille.compile("model")
    exec(compile(block, str(PAGE), "exec"), names)
    if "trainer" in block:
        assert names["done"].step == 3 and names["count"] == 100 * 16
        assert names["model"].session(1, 16)(input_ids=names["ids"][:1])
