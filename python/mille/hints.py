"""Types that the signatures of several modules name. Only checkers read it: no
module imports it when it runs, as typing takes long to import."""
from __future__ import annotations

import os
from typing import Protocol, Union

Path = Union[str, "os.PathLike[str]"]


class Encoding(Protocol):
    """The tokens of a text as a run needs them: of tokenizers, or Mille's."""

    @property
    def ids(self) -> list[int]:
        """Of each token its number in the vocabulary."""

    @property
    def type_ids(self) -> list[int]:
        """Of each token the text of a pair that it belongs to: 0 or 1."""

    @property
    def attention_mask(self) -> list[int]:
        """Of each token whether it is one (1) or padding (0)."""


class PlacedEncoding(Encoding, Protocol):
    """The same with the places of the tokens in the text."""

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Of each token the first letter, and the one behind the last."""

    @property
    def special_tokens_mask(self) -> list[int]:
        """Of each token whether the tokenizer added it (1)."""
