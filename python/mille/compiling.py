"""Runs the `mille` command, which is a process of its own."""
import os
import shutil
import subprocess

from ._mille import load
from .errors import Error, InvalidArgument, MissingFile, file_error


def compile(model, output, *, dtype="f32", target=None):
    """Compiles a model (folder, GGUF file or spec) into the folder `output`
    and opens it. The command is MILLE_COMPILER or the `mille` of PATH; what it
    says of a failure is the exception's text (InvalidArgument: the input)."""
    command = os.environ.get("MILLE_COMPILER") or shutil.which("mille")
    if not command:
        raise MissingFile("there is no command 'mille' in PATH, and "
                          "MILLE_COMPILER is not set")
    line = [command, "compile", os.fspath(model), "-o", os.fspath(output),
            f"--dtype={dtype}"]
    if target:
        line.append(f"--target={target}")
    try:
        done = subprocess.run(line, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise file_error(f"{command} cannot be run: {error.strerror}") from error
    if done.returncode in (1, 2):
        raise InvalidArgument(done.stderr.strip())
    if done.returncode:
        raise Error(done.stderr.strip() or f"exit status {done.returncode}")
    return load(output)
