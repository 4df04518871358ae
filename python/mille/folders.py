"""The folders of a model of text: what was downloaded, and its package, which
is made when it is missing. Must not know what a model is for. What only making
needs is imported then: a package is opened without it."""
from __future__ import annotations

import json
import os
import time

from ._mille import load
from .errors import InvalidArgument, MissingFile, NotAFolder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._mille import Package
    from .hints import Path


def read(path: Path, default: Any = None) -> Any:
    """The JSON file `path`; `default` where there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return default
    except ValueError as error:
        raise InvalidArgument(f"{path} is no JSON: {error}") from error


def plain(path: Path) -> str:
    """A path as text, without a slash at its end."""
    return os.fspath(path).rstrip("/") or "/"


def manifest(folder: str) -> dict[str, Any] | None:
    """What a package says of itself, or None: `folder` holds no package."""
    for name in sorted(os.listdir(folder)):
        stem, ending = os.path.splitext(name)
        if ending != ".weights":
            continue
        whole = read(os.path.join(folder, stem + ".json"), {})
        if "mille_package" in whole:
            return whole["mille_package"]
    return None


def cache() -> str:
    """Where packages, and hashes of large files, are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return os.path.join(os.path.expanduser(home), "mille")


GGUF = (": of a GGUF file `mille generate` alone reads tokens and the chat "
        "template; the classes of texts want a folder with config.json and "
        "tokenizer.json")
LARGE = 1 << 16  # bytes of a file whose hash is kept
SETTLED = 2.0  # seconds after which a change gets another time


def hash_of(path: Path) -> str:
    """The SHA-256 of a file. That of a large one is kept beside what the
    system says of its inode, as weights take longer to hash than a package to
    open: any change of the file changes its st_ctime."""
    import hashlib
    facts = os.stat(path)
    known = repr((os.path.realpath(path), facts.st_dev, facts.st_ino,
                  facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns))
    place = os.path.join(cache(), "hashes",
                         hashlib.sha256(known.encode()).hexdigest())
    if facts.st_size >= LARGE:
        try:
            with open(place, encoding="ascii") as file:
                found = file.read()
            if len(found) == 64:
                return found
        except (OSError, ValueError):
            pass
    with open(path, "rb") as file:
        total = hashlib.sha256()
        while part := file.read(1 << 20):
            total.update(part)
        found = total.hexdigest()
    # What was written just now may be written again without another time.
    if facts.st_size >= LARGE and time.time() - facts.st_ctime > SETTLED:
        keep_text(place, found)
    return found


def keep_text(place: str, text: str) -> None:
    """Writes a file whole, or not at all."""
    import tempfile
    try:
        folder = os.path.dirname(place)
        os.makedirs(folder, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder,
                                         delete=False) as file:
            file.write(text)
        os.replace(file.name, place)
    except OSError:
        pass  # a folder that nobody may write to: it is hashed again


def digest(folder: str, *options: object) -> str:
    """Names the package that these files and options give."""
    import hashlib
    total = hashlib.sha256(repr(options).encode())
    names = (".json", ".safetensors", ".txt", ".model", ".jinja")
    if os.path.isdir(folder):
        paths = [os.path.join(folder, name)
                 for name in sorted(os.listdir(folder))
                 if os.path.splitext(name)[1] in names]
    else:  # a spec has its weights beside it
        beside = os.path.join(os.path.dirname(folder), "model.safetensors")
        paths = [folder] + [beside] * os.path.exists(beside)
    for path in paths:
        total.update(f"{os.path.basename(path)} {hash_of(path)}\n".encode())
    return total.hexdigest()[:32]


def entries_of(folder: str) -> str | None:
    """The entries that a decoder's package needs to continue texts."""
    config = read(os.path.join(folder, "config.json"), {})
    kinds = config.get("architectures") or [""]
    decoder = kinds[0].endswith(("ForCausalLM", "LMHeadModel"))
    return "next" if decoder else None


def compiled(folder: str, dtype: str, target: str | None) -> Package:
    """The package of a model's folder, with the entries for its texts."""
    return kept(folder, {"dtype": dtype, "target": target,
                         "entries": entries_of(folder)})


def marked(options: dict[str, Any]) -> list[str]:
    """Options as the name of a package has them: of a file what it holds."""
    from . import compiling
    words = []
    for name, value in options.items():
        if not compiling.names_file(name, value):
            words += compiling.words_of({name: value})
        elif os.path.isdir(value):
            raise InvalidArgument(f"{os.fspath(value)} is no "
                                  f"{compiling.FILES[name]}: it is a folder")
        elif os.path.exists(value):
            words.append(f"--{name}={hash_of(value)}")
        else:
            raise MissingFile(f"{os.fspath(value)} is no "
                              f"{compiling.FILES[name]}: there is no such file")
    return words


def kept(model: Path, options: dict[str, Any],
         progress: bool = True) -> Package:
    """The package of a model, from the cache or compiled into it:
    $XDG_CACHE_HOME/mille/packages, by the files, the options (those of the
    command, by their names) and the command."""
    from . import compiling
    folder = plain(model)
    if not os.path.exists(folder):
        raise MissingFile(f"{folder} is no model: there is no such file")
    packages = os.path.join(cache(), "packages")
    command = compiling.find_command()
    command = os.path.realpath(command) if command else ""
    place = os.path.join(packages, digest(folder, marked(options), command,
                                          compiling.stamp(command)))
    if os.path.exists(place):
        return load(place)
    import tempfile
    os.makedirs(packages, exist_ok=True)
    # A rename, so that nobody opens a package that is half written.
    with tempfile.TemporaryDirectory(dir=packages) as made:
        compiling.into(os.path.join(made, "package"), folder, options, progress)
        try:
            os.rename(os.path.join(made, "package"), place)
        except OSError:
            if not os.path.exists(place):
                raise
    return load(place)


def transformer(model: str) -> str:
    """The folder of the weights in a sentence-transformers folder."""
    for module in read(os.path.join(model, "modules.json"), []):
        if module["type"].endswith(".Transformer"):
            return plain(os.path.join(model, module["path"]))
    return model


def find(folder: Path, model_dir: Path | None, dtype: str,
         target: str | None) -> tuple[Package, str]:
    """(package, model's folder) of a folder that holds either."""
    folder = plain(folder)
    if not os.path.isdir(folder):
        kind = NotAFolder if os.path.exists(folder) else MissingFile
        also = GGUF if folder.endswith(".gguf") else ""
        raise kind(f"{folder} is no folder{also}")
    holds = lambda place, name: os.path.exists(os.path.join(place, name))
    about = manifest(folder)
    if about:
        model = plain(model_dir or about["model"].get("folder") or ".")
        if not holds(model, "config.json") and \
                not holds(model, "modules.json"):
            if about["model"].get("path", "").endswith(".gguf"):
                raise MissingFile(f"the package {folder} is of "
                                  f"{about['model']['path']}{GGUF}")
            raise MissingFile(f"the package {folder} has its tokenizer in the "
                              f"model's folder, and '{model}' is none: give "
                              "model_dir")
        return load(folder), model
    model = plain(model_dir or folder)
    weights = transformer(model)
    if not holds(weights, "config.json"):
        raise MissingFile(f"{folder} holds neither a package of mille (*.weights)"
                        " nor a model (config.json)")
    return compiled(weights, dtype, target), model
