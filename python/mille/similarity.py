"""How alike vectors are, and their short forms, as sentence-transformers has
them. Must not make vectors."""
from __future__ import annotations

import sys

import numpy as np

from .errors import InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


def normalized(vectors: np.ndarray) -> np.ndarray:
    """Vectors of length 1, the last dimension; 0 stays 0."""
    lengths = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    return vectors / np.maximum(lengths, np.float32(1e-12))


def dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sums of products along the last dimension; the others broadcast."""
    return np.einsum("...c,...c->...", a, b)


# By the name that config_sentence_transformers.json has: what is done to the
# vectors first, and the similarity along the channels of vectors of any places.
SIMILARITIES: dict[str, tuple[Callable, Callable]] = {
    "cosine": (normalized, dots),
    "dot": (np.asarray, dots),
    "euclidean": (np.asarray, lambda a, b: -np.sqrt(dots(a - b, a - b))),
    "manhattan": (np.asarray, lambda a, b: -np.abs(a - b).sum(axis=-1)),
}


def check_name(name: str) -> str:
    """The name of one of SIMILARITIES."""
    if name not in SIMILARITIES:
        raise InvalidArgument(f"the similarity is {name!r} but must be one of "
                              f"{', '.join(SIMILARITIES)}")
    return name


def rows(given: Any, what: str) -> np.ndarray:
    """Vectors [number, channels] float32 of arrays, tensors or lists of them;
    one vector is one row."""
    try:
        made = np.asarray(given, np.float32)
    except (TypeError, ValueError, RuntimeError) as error:  # the last: torch's
        raise InvalidArgument(f"{what} are no vectors: {error}") from error
    made = made[None] if made.ndim == 1 else made
    if made.ndim != 2:
        raise InvalidArgument(f"{what} have {made.ndim} dimensions but must "
                              "have 2: vectors and channels")
    return made


def alike(found: np.ndarray, *given: Any) -> Any:
    """`found` as a tensor of torch, on its memory, where something given is a
    tensor or a list of them; else as it is."""
    torch = sys.modules.get("torch")  # else nobody has a tensor
    firsts = [one[0] if isinstance(one, (list, tuple)) and one else one
              for one in given]
    if torch and any(isinstance(one, torch.Tensor) for one in firsts):
        return torch.from_numpy(found)
    return found


def both(prepare: Callable[[np.ndarray], np.ndarray], first: Any,
         second: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two lots of vectors of as many channels, prepared."""
    a, b = rows(first, "the first vectors"), rows(second, "the second vectors")
    if a.shape[1] != b.shape[1]:
        raise InvalidArgument(f"the first vectors have {a.shape[1]} channels "
                              f"but the second {b.shape[1]}")
    return prepare(a), prepare(b)


def each_with_each(name: str, first: Any, second: Any) -> Any:
    """[first, second] float32: the similarities of all pairs. A tensor of torch
    where the vectors are."""
    prepare, measure = SIMILARITIES[name]
    a, b = both(prepare, first, second)
    found = np.zeros((len(a), len(b)), np.float32)
    for number, row in enumerate(a):  # one row at a time takes less memory
        found[number] = measure(row, b)
    return alike(found, first, second)


def pair_by_pair(name: str, first: Any, second: Any) -> Any:
    """[pairs] float32: the similarities of vectors at the same place. A tensor
    of torch where the vectors are."""
    prepare, measure = SIMILARITIES[name]
    a, b = both(prepare, first, second)
    if len(a) != len(b):
        raise InvalidArgument(f"there are {len(a)} first vectors but {len(b)} "
                              "second ones")
    return alike(measure(a, b), first, second)


def check_channels(channels: int | None) -> int | None:
    """How many numbers of a vector are kept; None: all."""
    if channels is not None and (type(channels) is not int or channels < 1):
        raise InvalidArgument(f"truncate_dim is {channels!r} but must be a "
                              "whole number from 1, or None")
    return channels


def cut(vectors: np.ndarray, channels: int | None) -> np.ndarray:
    """The first `channels` numbers of each vector; None: all."""
    if check_channels(channels) is None:
        return vectors
    return np.ascontiguousarray(vectors[..., :channels])


def signs(vectors: np.ndarray) -> np.ndarray:
    """A bit for each number, whether it is above 0: eight in a byte, the first
    the highest."""
    return np.packbits(vectors > 0, axis=-1)


# By the precision's name: [texts, channels] float32 -> the vectors given.
PRECISIONS = {
    "float32": lambda vectors: vectors,
    "binary": lambda vectors: (signs(vectors).astype(np.int16) - 128).astype(
        np.int8),
    "ubinary": signs,
}


def check_precision(name: str) -> None:
    """Refuses what is none of PRECISIONS."""
    if name in ("int8", "uint8"):
        raise InvalidArgument(
            f"precision is {name!r}, whose ranges would be those of the call's "
            "texts, so that a text's vector would depend on the others: take "
            "float32 and quantise all vectors by one range")
    if name not in PRECISIONS:
        raise InvalidArgument(f"precision is {name!r} but must be one of "
                              f"{', '.join(PRECISIONS)}")
