"""Texts to tokens by a folder's tokenizer.json. The package `tokenizers` takes
longer to read that file than all else takes that a first vector needs; so texts
whose ids cannot differ are read by the vocabulary that the compiler has made of
the file. Must not give other ids than `tokenizers`."""
from __future__ import annotations

import os

from ._mille import Tokens, tokenizer_hash
from .errors import InvalidArgument, MissingFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    import tokenizers

    from ._mille import Package
    from .hints import Encoding


def file_of(weights: str) -> str:
    """The tokenizer.json of a folder."""
    path = os.path.join(weights, "tokenizer.json")
    if not os.path.exists(path):
        raise MissingFile(f"{weights} has no tokenizer.json")
    return path


def of_package(path: str, package: Package) -> Tokens | None:
    """The package's own vocabulary, if it was made of the file `path` as that
    is now, and says all that it says."""
    if package.manifest.get("tokenizer_hash") != tokenizer_hash(path):
        return None
    return Tokens(os.path.join(package.path, package.name + ".tokens"))


class Ids:
    """A text's ids with its ends; a part of what tokenizers' Encoding has."""
    __slots__ = ("ids",)

    def __init__(self, ids: list[int]):
        self.ids = ids

    @property
    def type_ids(self) -> list[int]:
        """0 for each token."""
        return [0] * len(self.ids)

    @property
    def attention_mask(self) -> list[int]:
        """1 for each token."""
        return [1] * len(self.ids)


class Tokenizer:
    """weights: the folder of tokenizer.json; package: what was compiled of it;
    most: tokens that a text is cut at."""

    def __init__(self, weights: str, package: Package, most: int):
        self._path, self._most = file_of(weights), most
        self._whole: tokenizers.Tokenizer | None = None
        self._own = of_package(self._path, package)
        if self._own is None or self._own.ends > most:
            self._own = None
            self.whole  # what is wrong with the file is said now

    @property
    def whole(self) -> tokenizers.Tokenizer:
        """The Tokenizer of `tokenizers`, which also has offsets and knows pairs
        of texts. It is read when it is needed."""
        if self._whole is None:
            made = read(self._path)
            made.enable_truncation(self._most)
            self._whole = made
        return self._whole

    def encode_batch(self, texts: list[Any]) -> Sequence[Encoding]:
        """The tokens of each text, or of each pair."""
        if self._own is None:
            return self.whole.encode_batch(texts)
        own = self._own.encode(texts, self._most)
        rest = [texts[i] for i, ids in enumerate(own) if ids is None]
        others = iter(self.whole.encode_batch(rest) if rest else [])
        return [next(others) if ids is None else Ids(ids) for ids in own]


def read(path: str) -> tokenizers.Tokenizer:
    """The Tokenizer of `tokenizers`, which neither pads nor cuts yet."""
    try:
        import tokenizers
    except ImportError as error:
        raise ImportError("texts need the package tokenizers: "
                          "pip install 'mille[text]'") from error
    try:
        made = tokenizers.Tokenizer.from_file(path)
    except Exception as error:  # tokenizers raises no class of its own
        raise InvalidArgument(f"{path}: {error}") from error
    made.no_padding()
    made.no_truncation()
    return made
