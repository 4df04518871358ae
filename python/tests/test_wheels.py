"""The command of the wheel mille-compiler, where it is installed. SPEC: a small
model."""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tiny import WORDS, bert, sentences

import mille
from mille import compiling

mille_compiler = pytest.importorskip("mille_compiler")
ids = np.array([[1, 7, 5, 7, 2]], np.int32)


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    """Neither PATH nor the environment knows a command."""
    monkeypatch.delenv("MILLE_COMPILER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_search(monkeypatch, tmp_path):
    own = mille_compiler.command()
    assert compiling.find_command() == own
    other = tmp_path / "mille"
    shutil.copy(own, other)
    assert compiling.find_command() == own
    monkeypatch.setitem(sys.modules, "mille_compiler", None)
    assert compiling.find_command() == str(other)
    monkeypatch.setenv("MILLE_COMPILER", "/elsewhere")
    assert compiling.find_command() == "/elsewhere"
    monkeypatch.delenv("MILLE_COMPILER")
    other.unlink()
    assert compiling.find_command() is None
    with pytest.raises(mille.FileError, match="neither is mille-compiler "
                       "installed, nor does PATH have one, nor is MILLE_COMP"):
        compiling.command()


def test_compile_and_encode(tmp_path):
    made = mille.compile(os.environ["SPEC"], tmp_path / "package")
    result = made.session(batch=1, tokens=8)(input_ids=ids)
    assert all(np.isfinite(array).all() for array in result.values())
    folder = sentences(bert(tmp_path / "bert"),
                       {"pooling_mode_mean_tokens": True})
    text = " ".join(WORDS[5:8])
    vectors = mille.Encoder(folder, threads=1).encode([text, text, WORDS[6]])
    assert np.array_equal(vectors[0], vectors[1])
    assert not np.array_equal(vectors[0], vectors[2])


def test_the_script_is_the_program():
    script = pathlib.Path(sys.executable).parent / "mille"
    said = subprocess.run([script, "--version"], check=True,
                          capture_output=True, text=True).stdout
    assert said.startswith("mille ")
    assert subprocess.run([script, "compil"], capture_output=True
                          ).returncode == 2
    said = subprocess.run([script, "serve", "--help"], check=True,
                          capture_output=True, text=True).stdout
    assert said.startswith("usage: mille serve ") and "[NAME=]DIR" in said


def libraries(program):
    said = subprocess.run(
        [program, "--version"], check=True, text=True, capture_output=True,
        env={"LD_TRACE_LOADED_OBJECTS": "1"}).stdout
    return dict(line.split(" => ") for line in said.splitlines()
                if " => " in line)


def test_libraries_are_those_of_the_wheel():
    """The two programs carry what they use of LLVM and MLIR, Halide comes from
    the wheel and is the compiler's, and a process that imports both packages has
    none of them."""
    command = mille_compiler.command()
    site = os.path.dirname(os.path.dirname(command))
    found = libraries(os.path.join(site, "libexec", "mille-compiler"))
    assert not [name for name in [*found, *libraries(command)]
                if "LLVM" in name or "MLIR" in name]
    assert not [name for name in libraries(command) if "Halide" in name]
    path, = [path for library, path in found.items() if "Halide" in library]
    assert os.path.realpath(path.strip()).startswith(
        os.path.dirname(site)), path
    # Of a process of its own: PoCL, which a test may have loaded here, has LLVM.
    own = subprocess.run(
        [sys.executable, "-c", "import mille, mille_compiler, mille.encoder\n"
         "print(mille.load, open('/proc/self/maps').read())"],
        check=True, text=True, capture_output=True).stdout
    assert "_mille" in own
    assert not [name for name in ("LLVM", "MLIR", "Halide") if name in own]


def test_licences_of_what_is_inside():
    """Each library that auditwheel has put in, and what is linked, has its
    licence's text in the wheel."""
    from importlib import metadata
    about = metadata.distribution("mille-compiler")
    text, = [file.read_text() for file in about.files
             if file.name == "third-party.txt"]
    inside = {file.name.split("-")[0].split(".")[0] for file in about.files
              if ".libs/" in str(file)}
    assert inside
    # Where the package's name is not the library's.
    owners = {"libz": "zlib1g", "libicuuc": "libicu", "libicudata": "libicu",
              "libgcc_s": "libgcc", "libHalide": "Halide"}
    titles = "\n".join(line for before, line in
                       zip(text.splitlines(), text.splitlines()[1:])
                       if before.startswith("=" * 78))
    missing = [name for name in inside
               if owners.get(name, name) not in titles]
    assert not missing, (missing, titles)
    for name in ("llvm", "libmlir", "lld", "simdjson", "cli11", "pcre2",
                 "utf8proc", "jemalloc", "chart.js"):
        assert name in titles, name
    own = metadata.distribution("mille")
    names = {file.name for file in own.files}
    assert {"nanobind.txt", "robin_map.txt", "pcre2.txt",
            "utf8proc.txt"} <= names
