"""The folders of a model of text: what was downloaded, and its package, which
is made when it is missing. Must not know what a model is for. What only making
needs is imported then: a package is opened without it."""
import json
import os
import pathlib
import time

from ._mille import load
from .errors import InvalidArgument, MissingFile, NotAFolder


def read(path, default=None):
    """The JSON file `path`; `default` where there is none."""
    try:
        return json.loads(pathlib.Path(path).read_text("utf-8"))
    except FileNotFoundError:
        return default
    except ValueError as error:
        raise InvalidArgument(f"{path} is no JSON: {error}") from error


def manifest(folder):
    """What a package says of itself, or None: `folder` holds no package."""
    for weights in sorted(pathlib.Path(folder).glob("*.weights")):
        whole = read(weights.with_suffix(".json"), {})
        if "mille_package" in whole:
            return whole["mille_package"]
    return None


def cache():
    """Where packages, and hashes of large files, are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return pathlib.Path(home).expanduser() / "mille"


LARGE = 1 << 20  # bytes of a file whose hash is kept
SETTLED = 2.0  # seconds after which a change gets another time


def hash_of(path):
    """The SHA-256 of a file. That of a large one is kept beside what the
    system says of its inode, as weights take longer to hash than a package to
    open: any change of the file changes its st_ctime."""
    import hashlib
    facts = os.stat(path)
    known = repr((os.path.realpath(path), facts.st_dev, facts.st_ino,
                  facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns))
    place = cache() / "hashes" / hashlib.sha256(known.encode()).hexdigest()
    if facts.st_size >= LARGE:
        try:
            found = place.read_text("ascii")
            if len(found) == 64:
                return found
        except (OSError, ValueError):
            pass
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest() \
            if hasattr(hashlib, "file_digest") \
            else hashlib.sha256(file.read()).hexdigest()
    # What was written just now may be written again without another time.
    if facts.st_size >= LARGE and time.time() - facts.st_ctime > SETTLED:
        keep_text(place, found)
    return found


def keep_text(place, text):
    """Writes a file whole, or not at all."""
    import tempfile
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=place.parent,
                                         delete=False) as file:
            file.write(text)
        os.replace(file.name, place)
    except OSError:
        pass  # a folder that nobody may write to: it is hashed again


def digest(folder, *options):
    """Names the package that these files and options give."""
    import hashlib
    total = hashlib.sha256(repr(options).encode())
    names = (".json", ".safetensors", ".txt", ".model")
    beside = folder.parent / "model.safetensors"  # the weights of a spec
    for path in sorted(folder.iterdir()) if folder.is_dir() \
            else [folder, beside] if beside.exists() else [folder]:
        if path.suffix in names or path == folder:
            total.update(f"{path.name} {hash_of(path)}\n".encode())
    return total.hexdigest()[:32]


def entries_of(folder):
    """The entries that a decoder's package needs to continue texts."""
    kinds = read(folder / "config.json", {}).get("architectures") or [""]
    decoder = kinds[0].endswith(("ForCausalLM", "LMHeadModel"))
    return "next" if decoder else None


def compiled(folder, dtype, target):
    """The package of a model's folder, with the entries for its texts."""
    return kept(folder, dtype, target, entries_of(folder))


def kept(model, dtype, target, entries, states=None, progress=True):
    """The package of a model, from the cache or compiled into it:
    $XDG_CACHE_HOME/mille/packages, by the files, the options and the
    command."""
    import tempfile

    from . import compiling
    folder = pathlib.Path(model)
    if not folder.exists():
        raise MissingFile(f"{folder} is no model: there is no such file")
    packages = cache() / "packages"
    command = compiling.find_command()
    command = os.path.realpath(command) if command else ""
    stamp = os.stat(command) if os.path.exists(command) else None
    place = packages / digest(folder, dtype, target, entries, states, command,
                           stamp and (stamp.st_size, stamp.st_mtime_ns))
    if place.exists():
        return load(place)
    packages.mkdir(parents=True, exist_ok=True)
    # A rename, so that nobody opens a package that is half written.
    with tempfile.TemporaryDirectory(dir=packages) as made:
        compiling.compile(folder, os.path.join(made, "package"), dtype=dtype,
                          target=target, entries=entries, cache=states,
                          progress=progress)
        try:
            os.rename(os.path.join(made, "package"), place)
        except OSError:
            if not place.exists():
                raise
    return load(place)


def transformer(model):
    """The folder of the weights in a sentence-transformers folder."""
    for module in read(model / "modules.json", []):
        if module["type"].endswith(".Transformer"):
            return model / module["path"]
    return model


def find(folder, model_dir, dtype, target):
    """(package, model's folder) of a folder that holds either."""
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        kind = NotAFolder if folder.exists() else MissingFile
        raise kind(f"{folder} is no folder")
    about = manifest(folder)
    if about:
        model = pathlib.Path(model_dir or about["model"].get("folder", ""))
        if not (model / "config.json").exists() and \
                not (model / "modules.json").exists():
            raise MissingFile(f"the package {folder} has its tokenizer in the "
                              f"model's folder, and '{model}' is none: give "
                            "model_dir")
        return load(folder), model
    model = pathlib.Path(model_dir or folder)
    weights = transformer(model)
    if not (weights / "config.json").exists():
        raise MissingFile(f"{folder} holds neither a package of mille (*.weights)"
                        " nor a model (config.json)")
    return compiled(weights, dtype, target), model
