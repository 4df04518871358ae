"""The sizes of a session by place. Must not know what a session is for."""
from __future__ import annotations

from ._mille import Package, Session

_by_name = Package.session  # the module's own, which takes names alone


def session(self: Package, batch: int | None = None,
            tokens: int | None = None, threads: int = 0,
            device: str | None = None, **sizes: int) -> Session:
    """A session for runs of up to `batch` sequences of `tokens` tokens each,
    and of the model's other sizes by their names (decoder_tokens=32): see
    `Package.sizes`. threads: 0 is one for each core. device: "cpu", "opencl",
    "cuda", "cuda:1" or "cuda:NAME"; None is the package's choice.
    InvalidArgument: a size is missing, unknown, or no whole number from 1.
    NoDevice: there is none. OutOfMemory: memory or a thread was refused."""
    given = {"batch": batch, "tokens": tokens, **sizes}
    return _by_name(self, threads=threads, device=device,
                    **{name: value for name, value in given.items()
                       if value is not None})


session.__qualname__ = "Package.session"
Package.session = session
