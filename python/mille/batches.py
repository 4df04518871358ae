"""Ids to runs: batches of like length, the arrays of a run. Must not know what
the outputs mean."""
from __future__ import annotations

import os
import sys

import numpy as np

from . import folders
from .errors import InvalidArgument
from .tokens import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Iterator, Sequence

    import tokenizers

    from ._mille import Package, Session
    from .hints import Encoding, Path, PlacedEncoding

    Batch = tuple[list[int], list[Encoding], dict[str, np.ndarray]]


def about(weights: Path) -> dict[str, Any]:
    """What a folder says of its tokenizer."""
    return folders.read(os.path.join(weights, "tokenizer_config.json"), {})


def longest(weights: Path, package: Package, asked: int | None) -> int:
    """Tokens a text is cut at: what was asked for, the tokenizer's or the
    configuration's, and never more than the package takes."""
    config = folders.read(os.path.join(weights, "config.json"), {})
    if asked is None:
        asked = about(weights).get("model_max_length")
        table = config.get("max_position_embeddings") or sys.maxsize
        asked = min(asked or sys.maxsize, table)
    most = package.sizes.get("tokens") or sys.maxsize
    if not isinstance(asked, (int, float)) or asked < 1:
        raise InvalidArgument(f"the longest text is {asked!r} tokens but must "
                              "be a whole number from 1")
    cut = int(min(asked, most))
    if cut == sys.maxsize:
        raise InvalidArgument(f"nothing in {weights} says how long a text may "
                              "be: give max_length")
    return cut


def ignores_types(weights: Path) -> bool:
    """Whether transformers gives this folder's model no token_type_ids: the
    class of tokenizers that is no model's own leaves them out unless asked."""
    config = about(weights)
    names = config.get("model_input_names")
    if names is None:
        return config.get("tokenizer_class") in ("PreTrainedTokenizerFast",
                                                 "TokenizersBackend")
    return "token_type_ids" not in names


class Window:
    """Tokens of a text between those that the tokenizer adds; a part of what
    tokenizers' Encoding has."""
    __slots__ = ("ids", "type_ids", "offsets", "special_tokens_mask")

    def __init__(self, tokens: list[tuple]):
        self.ids, self.type_ids, self.offsets, self.special_tokens_mask = \
            map(list, zip(*tokens))

    @property
    def attention_mask(self) -> list[int]:
        """1 for each token."""
        return [1] * len(self.ids)


def tokens_of(encoding: tokenizers.Encoding) -> list[tuple]:
    """(id, type, offsets, whether the tokenizer added it) of each token."""
    return list(zip(encoding.ids, encoding.type_ids, encoding.offsets,
                    encoding.special_tokens_mask))


def check_stride(stride: object) -> None:
    """Refuses a stride that is no whole number from 0."""
    if not isinstance(stride, int) or stride < 0:
        raise InvalidArgument(f"stride is {stride!r} but must be a whole "
                              "number from 0")


class Runner:
    """Runs texts, or pairs of texts, through a package."""

    def __init__(self, package: Package, weights: str, max_length: int | None,
                 threads: int):
        self.package, self.threads = package, threads
        self.max_length = longest(weights, package, max_length)
        self.tokenizer = Tokenizer(weights, package, self.max_length)
        self.inputs = {tensor.name for tensor in package.inputs}
        if ignores_types(weights):
            self.inputs.discard("token_type_ids")
        self.outputs = {tensor.name: tensor.shape for tensor in package.outputs}
        if not {"input_ids", "attention_mask"} <= self.inputs:
            raise InvalidArgument(
                f"the package {package.name} takes {sorted(self.inputs)} but "
                "texts need input_ids and attention_mask")
        self.session: Session | None = None
        self.room = (0, 0)

    def wants(self, output: str, rank: int, why: str) -> tuple:
        """Refuses a package that lacks what the caller reads."""
        shape = self.outputs.get(output)
        if shape is None or len(shape) != rank:
            raise InvalidArgument(
                f"the package {self.package.name} gives "
                f"{self.outputs} but {why} needs {output} of {rank} dimensions")
        return shape

    def reserve(self, batch: int, tokens: int) -> Session:
        """The session, for at least this many texts and tokens of one."""
        room = (max(batch, self.room[0]), max(tokens, self.room[1]))
        if self.session is None or room != self.room:
            self.session = self.package.session(
                batch=room[0], tokens=room[1], threads=self.threads)
            self.room = room
        return self.session

    def run(self, encodings: Sequence[Encoding]) -> dict[str, np.ndarray]:
        """{output: array} of one batch, padded on the right."""
        batch = len(encodings)
        tokens = max(len(one.ids) for one in encodings)
        session = self.reserve(batch, tokens)
        arrays = {"input_ids": "ids", "attention_mask": "attention_mask",
                  "token_type_ids": "type_ids"}
        made: dict[str, Any] = {name: np.zeros((batch, tokens), np.int32)
                                for name in arrays if name in self.inputs}
        for row, one in enumerate(encodings):
            for name, array in made.items():
                array[row, :len(one.ids)] = getattr(one, arrays[name])
        return session(**made)

    def windows(self, encoding: tokenizers.Encoding, stride: int,
                prompt: int = 0) -> Sequence[PlacedEncoding]:
        """A text's tokens in windows of max_length, each of which repeats
        `stride` tokens of the one before. What the tokenizer adds, and the
        tokens of the first `prompt` characters, are in every window."""
        if not encoding.overflowing:
            return [encoding]
        first = tokens_of(encoding)
        own = [token for part in (encoding, *encoding.overflowing)
               for token in tokens_of(part) if not token[3]]
        begin = [token[3] for token in first].index(0)
        end = begin + sum(not token[3] for token in first)
        said = sum(token[2][1] <= prompt for token in own) if prompt else 0
        head, body = first[:begin] + own[:said], own[said:]
        room = self.max_length - len(head) - len(first[end:])
        if stride >= room:
            raise InvalidArgument(f"stride is {stride} but must be less than "
                                  f"{room}, the tokens of a window")
        last = max(len(body) - stride, 1)
        return [Window(head + body[at:at + room] + first[end:])
                for at in range(0, last, room - stride)]

    def all_windows(self, texts: list[str], stride: int,
                    prompt: int = 0) -> list[Sequence[PlacedEncoding]]:
        """The windows of each text."""
        check_stride(stride)
        return [self.windows(one, stride, prompt)
                for one in self.tokenizer.whole.encode_batch(texts)]

    def batches(self, encodings: Sequence[Encoding], batch_size: int,
                progress: bool = False) -> Iterator[Batch]:
        """Yields (numbers of texts, encodings, outputs), long texts first, so
        that the first batch makes the session. A text without a token is in
        no batch."""
        if not isinstance(batch_size, int) or batch_size < 1:
            raise InvalidArgument(f"batch_size is {batch_size!r} but must be a "
                                  "whole number from 1")
        order = [i for i in sorted(range(len(encodings)),
                                   key=lambda i: -len(encodings[i].ids))
                 if encodings[i].ids]
        for begin in range(0, len(order), batch_size):
            numbers = order[begin:begin + batch_size]
            chosen = [encodings[i] for i in numbers]
            yield numbers, chosen, self.run(chosen)
            if progress:
                done = begin + len(numbers)
                print(f"\r{done} of {len(order)} texts", end="" if
                      done < len(order) else "\n", file=sys.stderr)


def checked(texts: Iterable[object], what: str = "a text") -> list[str]:
    """The texts as a list, each of which must be a string."""
    found = []
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidArgument(f"{what} must be a string but number {i} is "
                                  f"a {type(text).__name__}")
        found.append(text)
    return found
