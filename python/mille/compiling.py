"""Runs the `mille` command, which is a process of its own. What only running it
needs is imported then: a package that is kept is found without it."""
from __future__ import annotations

import os
import sys

from ._mille import load
from .errors import (Error, InternalError, InvalidArgument, MissingFile,
                     file_error)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ._mille import Package
    from .hints import Path


def find_command() -> str | None:
    """The path of the command, or None: MILLE_COMPILER, the wheel
    mille-compiler of this interpreter, or the `mille` of PATH."""
    found = os.environ.get("MILLE_COMPILER")
    if found:
        return found
    try:
        import mille_compiler
    except ImportError:
        import shutil
        return shutil.which("mille")
    return mille_compiler.command()


def command() -> str:
    """The path of the command, which must be there."""
    found = find_command()
    if not found:
        raise MissingFile("there is no command 'mille': neither is "
                          "mille-compiler installed, nor does PATH have one, "
                          "nor is MILLE_COMPILER set")
    return found


def stamp(command: str) -> tuple[int, int] | None:
    """(bytes, time) of the program that compiles: libexec/mille-compiler where
    bin/mille is the command, else the command itself. None if there is none."""
    beside = os.path.join(os.path.dirname(os.path.dirname(command)), "libexec",
                          "mille-compiler")
    for path in (beside, command):
        if os.path.exists(path):
            facts = os.stat(path)
            return facts.st_size, facts.st_mtime_ns
    return None


def terminal() -> int | None:
    """The descriptor of a terminal that sys.stderr writes to, or None."""
    try:
        number = sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):  # none, closed, its own
        return None
    return number if os.isatty(number) else None


def run(*words: Path, progress: bool = False) -> tuple[int, str, str]:
    """(exit status, what it printed, what it complained of). progress: its line
    of progress goes to the terminal of sys.stderr, where there is one."""
    import subprocess
    line = [command(), *(os.fspath(word) for word in words)]
    shown = terminal() if progress else None
    own = () if shown is None else (os.dup(shown),)
    told = {"MILLE_PROGRESS": str(number) for number in own}
    try:
        done = subprocess.run(line, stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8",
                              errors="surrogateescape", pass_fds=own,
                              env={**os.environ, **told})
    except OSError as error:
        raise file_error(f"{line[0]} cannot be run: {error.strerror}") \
            from error
    finally:
        for number in own:
            os.close(number)
    return done.returncode, done.stdout, done.stderr.strip()


def fail(status: int, why: str) -> NoReturn:
    """Raises what the command's exit status means, with its sentence."""
    kinds = {1: InvalidArgument, 2: InvalidArgument, 4: InternalError}
    raise kinds.get(status, Error)(why or f"exit status {status}")


# Options of `mille compile` whose value is a file, and what it holds.
FILES = {"calibrate": "text", "weights": "safetensors file"}


def names_file(option: str, value: Any) -> bool:
    """Whether the value of an option is a file: there are words for weights."""
    return option in FILES and bool(value) and not (
        option == "weights" and isinstance(value, str) and
        (value == "none" or value.startswith("random:")))


def words_of(options: dict[str, Any]) -> list[str]:
    """Options as words of the command; None and False stand for nothing."""
    words = []
    for name, value in options.items():
        if value is None or value is False or value == "":
            continue
        if name in FILES:
            value = os.fspath(value)
        words.append(f"--{name}" if value is True else f"--{name}={value}")
    return words


def into(folder: Path, model: Path, options: dict[str, Any],
         progress: bool) -> None:
    """Compiles a model into a folder."""
    status, _, why = run("compile", model, "-o", folder, *words_of(options),
                         progress=progress)
    if status:
        fail(status, why)


def compile(model: Path, output: Path | None = None, dtype: str = "f32",
            target: str | None = None, progress: bool = True, *,
            entries: str | None = None, cache: str | None = None,
            calibrate: Path | None = None, weights: Path | None = None,
            train: bool = False, recompute: str | None = None,
            memory: int | str | None = None, batch: int | None = None,
            tokens: int | None = None) -> Package:
    """Compiles a model (folder, GGUF file or spec) into the folder `output`
    and opens it. Without `output` it is kept in $XDG_CACHE_HOME/mille/packages
    and compiled once. `cache`: the type of remembered keys and values where
    dtype does not say it, as of --cache. `calibrate`: a file of text for which
    weights become blocks, as of --calibrate. `weights`: a safetensors file, as
    Trainer.save writes it, "none" or "random:SEED", in place of the model's.
    `train`: a package that trains. `recompute`: "none", "cheap", "layer" or
    "segment:K", what its steps compute anew. `memory`: of a trainer, in bytes
    or as "8G", for steps of `batch` sequences of `tokens` tokens: the package
    gets the word of `recompute` that fits with the least work. `progress`: a
    line of it on
    the terminal of sys.stderr, if that is one. The command is that of
    find_command(); what it says of a failure is the exception's text
    (InvalidArgument: the input)."""
    options = {"dtype": dtype, "target": target, "entries": entries,
               "cache": cache, "calibrate": calibrate, "weights": weights,
               "train": train, "recompute": recompute, "memory": memory,
               "batch": batch, "tokens": tokens}
    if output is None:
        from . import folders
        return folders.kept(model, options, progress)
    into(output, model, options, progress)
    return load(output)
