"""Packages in Python. MILLE: the command that compiles; SPEC: a small model."""
import errno
import gc
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest
from tiny import own_cache

import mille

ids = np.array([[1, 7, 5, 7, 2]], np.int32)


@pytest.fixture(autouse=True)
def interruptible():
    """A job in the background of a shell begins with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    subprocess.run([os.environ["MILLE"], "compile", os.environ["SPEC"],
                    "--name=tiny", "--target=host", "-o", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def package(folder):
    return mille.load(folder)


@pytest.fixture
def session(package):
    return package.session(batch=2, tokens=8, threads=2)


def only(outputs):
    return next(iter(outputs.values()))


def test_compiled_once(monkeypatch, tmp_path):
    """Without a folder a package is kept, by what the model holds."""
    cache = own_cache(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("MILLE_COMPILER", os.environ["MILLE"])
    shutil.copytree(pathlib.Path(os.environ["SPEC"]).parent, tmp_path / "model")
    spec = tmp_path / "model" / "spec.json"
    first = mille.compile(spec).path
    assert pathlib.Path(first).parent == cache / "mille" / "packages"
    assert mille.compile(spec).path == first
    assert mille.compile(spec, dtype="int8").path != first
    weights = spec.with_name("model.safetensors")
    numbers = bytearray(weights.read_bytes())
    numbers[-3] ^= 1
    weights.write_bytes(numbers)
    assert mille.compile(spec).path != first
    with pytest.raises(mille.FileError, match="there is no such file"):
        mille.compile(tmp_path / "none")


def test_hashes_are_kept(monkeypatch, tmp_path):
    """A large file is read again only after a change, of any kind."""
    from mille import folders
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path, kept = tmp_path / "weights", tmp_path / "cache" / "mille" / "hashes"
    content = bytes(folders.LARGE)

    def right():
        return folders.hash_of(path) == hashlib.sha256(
            path.read_bytes()).hexdigest()

    path.write_bytes(content)
    assert right() and not kept.exists()  # it is too new
    monkeypatch.setattr(folders, "SETTLED", 0.05)
    time.sleep(0.1)
    assert right() and len(list(kept.iterdir())) == 1
    only_, = kept.iterdir()
    only_.write_text("f" * 64)
    assert folders.hash_of(path) == "f" * 64
    only_.write_text("f")  # cut off
    assert right()
    facts = os.stat(path)
    path.write_bytes(content[:-1] + b"1")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert right()
    path.write_bytes(content[:-1])  # small
    time.sleep(0.1)
    assert right() and len(list(kept.iterdir())) == 1


def test_package(package):
    assert package.name == "tiny" and package.entries == ["forward"]
    assert package.inputs[0].shape == ("batch", "tokens")
    assert package.inputs[0].dtype == "int32"
    assert set(package.sizes) == {"batch", "tokens"}
    assert package.isa and package.weights_bytes > 0


def test_run(session):
    result = only(session(input_ids=ids))
    assert result.shape[:2] == (1, 5) and result.dtype == np.float32
    assert np.isfinite(result).all() and result.std() > 0
    other = only(session(input_ids=ids + 1))
    assert not np.array_equal(result, other)
    assert np.array_equal(result, only(session(input_ids=ids)))


def test_same_bits_of_a_transposed_array(session):
    turned = np.asfortranarray(np.repeat(ids, 2, axis=0))
    assert not turned.flags.c_contiguous
    assert np.array_equal(only(session(input_ids=turned))[1],
                          only(session(input_ids=ids))[0])


def test_out(session):
    wanted = session(input_ids=ids)
    name, array = next(iter(wanted.items()))
    out = np.full_like(array, np.nan)
    assert session(input_ids=ids, out={name: out})[name] is out
    assert np.array_equal(out, array)
    for wrong in (out.astype(np.float64), out[..., ::2], "text"):
        with pytest.raises(mille.InvalidArgument, match="float32"):
            session(input_ids=ids, out={name: wrong})


def test_sizes_by_place(package, session):
    """batch, tokens, threads, device; the same by name, and mixed."""
    wanted = only(session(input_ids=ids))
    for made in (package.session(1, 5, 1, None), package.session(1, tokens=5),
                 package.session(tokens=5, batch=1, device="cpu")):
        assert np.array_equal(only(made(input_ids=ids)), wanted)
        with pytest.raises(mille.TooLarge, match="batch"):
            made(input_ids=np.repeat(ids, 2, axis=0))
        with pytest.raises(mille.TooLarge, match="tokens"):
            made(input_ids=np.repeat(ids, 2, axis=1))
    with pytest.raises(TypeError, match=r"session\(\): incompatible function"):
        package.session(1, 5, batch=1)
    with pytest.raises(mille.InvalidArgument, match="no size 'words'"):
        package.session(1, 5, words=3)


def test_device(package, session, tmp_path):
    """A package of two targets runs on either; another device is refused."""
    subprocess.run([os.environ["MILLE"], "compile", os.environ["SPEC"],
                    "--name=tiny", "--target=host,opencl", "-o", tmp_path],
                   check=True)
    both, wanted = mille.load(tmp_path), only(session(input_ids=ids))
    assert np.array_equal(
        only(both.session(1, 8, device="cpu")(input_ids=ids)), wanted)
    try:
        there = both.session(1, 8, device="opencl")
    except mille.NoDevice as error:  # of this machine: the gate's has one
        pytest.skip(str(error))
    with pytest.raises(mille.NoDevice, match="OpenCL device is called '99'"):
        both.session(1, 8, device="opencl:99")
    with pytest.raises(mille.InvalidArgument, match="device is 'cuda' but"):
        both.session(1, 8, device="cuda")
    with pytest.raises(mille.InvalidArgument, match="device is 'opencl' but"):
        package.session(1, 8, device="opencl")
    # Of another compiler, whose sums round elsewhere.
    got = only(there(input_ids=ids))
    assert np.allclose(got, wanted, rtol=0, atol=1e-5)
    assert not np.array_equal(got, wanted)


def test_session_outlives_package(folder, session):
    opened = mille.load(folder).session(batch=1, tokens=8)
    gc.collect()
    assert np.array_equal(only(opened(input_ids=ids)),
                          only(session(input_ids=ids)))


def test_threads_share_a_session(package):
    opened = package.session(batch=1, tokens=8)
    wanted = only(opened(input_ids=ids))
    answers = [None] * 4

    def work(i):
        answers[i] = only(opened(input_ids=ids))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all(np.array_equal(wanted, answer) for answer in answers)


@pytest.mark.parametrize("wrong, sentence", [
    (ids.astype(np.int16), "input_ids is int16 but the model's is int32"),
    (ids.astype(np.int64) + 2 ** 32, "4294967297, which is no int32"),
    (ids.astype(">i4"), "no array of this machine's numbers"),
    (ids[0], "1 dimensions but the model's has 2"),
    ("text", "no array"),
    (None, "input_ids is missing"),
])
def test_bad_input(session, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        session(input_ids=wrong)


def test_wide_ids(session):
    wanted = only(session(input_ids=ids))
    assert np.array_equal(wanted, only(session(input_ids=ids.astype(np.int64))))
    turned = np.asfortranarray(np.repeat(ids, 2, axis=0).astype(np.int64))
    assert np.array_equal(wanted[0], only(session(input_ids=turned))[1])


def test_bad_out(session):
    with pytest.raises(mille.InvalidArgument, match="out must map names"):
        session(input_ids=ids, out=3)
    with pytest.raises(mille.InvalidArgument, match="no output logit"):
        session(input_ids=ids, out={"logit": ids})


def test_bad_values(session):
    with pytest.raises(mille.Error, match="-1"):
        session(input_ids=ids * 0 - 1)
    with pytest.raises(mille.TooLarge):
        session(input_ids=np.ones((2, 9), np.int32))
    with pytest.raises(mille.Error):
        session(input_ids=np.ones((0, 5), np.int32))
    with pytest.raises(mille.InvalidArgument, match="missing"):
        session()
    with pytest.raises(mille.InvalidArgument, match="no input words"):
        session(input_ids=ids, words=ids)
    with pytest.raises(mille.InvalidArgument, match="no entry 'decode' but 'forward'"):
        session(input_ids=ids, entry="decode")


def test_bad_package(package, tmp_path):
    with pytest.raises(mille.FileError, match="no package"):
        mille.load(tmp_path)
    for given in (None, 3, "a\0b"):
        with pytest.raises(mille.InvalidArgument, match="the path"):
            mille.load(given)
    with pytest.raises(mille.Error, match="tokens"):
        package.session(batch=1)
    with pytest.raises(mille.InvalidArgument, match="batch is 'x' but must be"):
        package.session(batch="x", tokens=8)


def reason(path):
    with pytest.raises(mille.FileError) as caught:
        mille.load(path)
    return next((kind for kind in (FileNotFoundError, NotADirectoryError,
                                   PermissionError)
                 if isinstance(caught.value, kind)), OSError), caught.value


def test_kinds_of_file_errors(folder, tmp_path):
    kind, error = reason(tmp_path / "missing")
    assert kind is FileNotFoundError and error.errno == errno.ENOENT
    assert str(error) == f"{tmp_path / 'missing'}: No such file or directory"
    assert reason(os.fsencode(tmp_path) + b"/\xff")[0] is FileNotFoundError
    assert reason(tmp_path)[0] is OSError  # is there, and no package
    (tmp_path / "file").touch()
    assert reason(tmp_path / "file")[0] is OSError
    assert reason(tmp_path / "file" / "part")[0] is NotADirectoryError
    assert reason("x" * 300)[1].errno == errno.ENAMETOOLONG
    error = mille.errors.file_error("cannot open w: Permission denied")
    assert isinstance(error, PermissionError)
    if os.getuid():
        (tmp_path / "closed").mkdir(mode=0)
        assert reason(tmp_path / "closed")[0] is PermissionError
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / "tiny.weights").unlink()
    (tmp_path / "copy" / "tiny.weights").symlink_to("tiny.weights")
    assert reason(tmp_path / "copy")[1].errno == errno.ELOOP


def test_bytes_path(folder, session):
    opened = mille.load(os.fsencode(folder))
    assert opened.manifest["name"] == "tiny"


def test_entries_are_listed(tmp_path):
    subprocess.run([os.environ["MILLE"], "compile", os.environ["DECODER"],
                    "--entries=next", "--target=host", "-o", tmp_path], check=True)
    package = mille.load(tmp_path)
    session = package.session(batch=1, tokens=8)
    with pytest.raises(mille.InvalidArgument) as caught:
        session(entry="nxt")
    names = ", ".join(f"'{name}'" for name in package.entries)
    assert str(caught.value) == f"there is no entry 'nxt' but {names}"
    assert len(package.entries) == 2


def test_shared_memory(session):
    wanted = session(input_ids=ids)
    first, second = wanted  # their names
    size, other = wanted[first].size, wanted[second].size
    flat = np.zeros(size + other, np.float32)

    def out(begin):
        return {first: flat[:size].reshape(wanted[first].shape),
                second: flat[begin:begin + other].reshape(
                    wanted[second].shape)}

    result = session(input_ids=ids, out=out(size))  # beside each other
    assert all(np.array_equal(result[name], wanted[name]) for name in wanted)
    for begin in (0, size - 1):
        with pytest.raises(mille.InvalidArgument, match=f"out of {first} and "
                           f"out of {second} share memory"):
            session(input_ids=ids, out=out(begin))
    own = flat[:ids.size].view(np.int32).reshape(ids.shape)
    own[:] = ids
    with pytest.raises(mille.InvalidArgument, match="the input input_ids and "
                       f"out of {first} share memory"):
        session(input_ids=own, out=out(size))
    assert np.array_equal(own, ids)


def test_import_is_quick():
    code = ("import numpy, sys, time; begin = time.perf_counter(); "
            "import mille; print(time.perf_counter() - begin); "
            "late = {'subprocess', 'mille.encoder', 'mille.compiling'}; "
            "assert not late & set(sys.modules), sys.modules; "
            "assert mille.Encoder.__name__ == 'Encoder'; "
            "assert set(mille.__all__) <= set(dir(mille))")
    times = [float(subprocess.run([sys.executable, "-c", code], check=True,
                                  capture_output=True, text=True).stdout)
             for _ in range(5)]
    assert min(times) < 0.05
    with pytest.raises(AttributeError, match="no attribute 'Encodr'"):
        mille.Encodr


def test_compile(package, tmp_path, monkeypatch):
    monkeypatch.setenv("MILLE_COMPILER", os.environ["MILLE"])
    spec = os.environ["SPEC"]
    made = mille.compile(spec, tmp_path / "made")
    wanted = only(package.session(batch=1, tokens=8)(input_ids=ids))
    assert np.array_equal(
        wanted, only(made.session(batch=1, tokens=8)(input_ids=ids)))
    with pytest.raises(mille.InvalidArgument, match="f99"):
        mille.compile(spec, tmp_path / "none", dtype="f99")
    monkeypatch.setenv("MILLE_COMPILER", str(tmp_path / "missing"))
    with pytest.raises(mille.FileError, match="cannot be run"):
        mille.compile(spec, tmp_path / "none")


def test_progress_is_shown(tmp_path):
    """On a terminal, and only there; a failure's sentence is in the error."""
    code = ("import mille, os, sys; s = os.environ['SPEC']; "
            "mille.compile(s, sys.argv[1] + '/a', progress=sys.argv[2] == 'y')\n"
            "try: mille.compile(s, sys.argv[1] + '/b', dtype='f99')\n"
            "except mille.InvalidArgument as error: assert 'f99' in str(error)")
    own, other = os.openpty()
    said = []
    for shown, stderr in (("y", other), ("n", other), ("y", subprocess.PIPE)):
        done = subprocess.run(
            [sys.executable, "-c", code, tmp_path / shown, shown],
            stderr=stderr, check=True,
            env={**os.environ, "MILLE_COMPILER": os.environ["MILLE"],
                 "XDG_CACHE_HOME": str(tmp_path / "cache")})
        said.append(done.stderr)
        if stderr == other:
            os.write(other, b"end\n")
            said[-1] = b""
            while not said[-1].endswith(b"end\r\n"):
                said[-1] += os.read(own, 1 << 16)
    assert b"\r\x1b[K" in said[0], said
    assert said[1:] == [b"end\r\n", b""]


def test_out_takes_no_memory(package):
    """Runs into given arrays keep nothing, and make no array."""
    session = package.session(batch=8, tokens=8)
    many = np.repeat(ids, 8, axis=0)
    out = session(input_ids=many)
    session(input_ids=many, out=out)
    tracemalloc.start()
    session(input_ids=many, out=out)
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    for _ in range(100):
        session(input_ids=many, out=out)
    after, most = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    session(input_ids=many)
    _, with_arrays = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 512 and most - before < 4096
    assert with_arrays - before > sum(array.nbytes for array in out.values())


@pytest.mark.parametrize("error", [KeyboardInterrupt, mille.Cancelled])
def test_a_run_stops(package, error):
    big = package.session(batch=20000, tokens=8, threads=1)
    many = np.repeat(ids, 20000, axis=0)
    whole = time.perf_counter()
    wanted = only(big(input_ids=many))
    whole = time.perf_counter() - whole
    stop = big.cancel if error is mille.Cancelled else \
        lambda: os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(whole / 5, stop)
    begin = time.perf_counter()
    with pytest.raises(error):
        timer.start()
        big(input_ids=many)
    assert time.perf_counter() - begin < 0.8 * whole
    assert np.array_equal(wanted, only(big(input_ids=many)))


def test_interrupt_of_a_wait(package):
    big = package.session(batch=20000, tokens=8, threads=1)
    many = np.repeat(ids, 20000, axis=0)
    wanted = only(big(input_ids=many))
    got = []
    worker = threading.Thread(
        target=lambda: got.append(only(big(input_ids=many))))
    worker.start()
    time.sleep(0.02)  # the run is the worker's
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        big(input_ids=many)
    assert worker.is_alive()
    worker.join()
    assert np.array_equal(wanted, got[0])


def test_images(tmp_path):
    """Sizes of outputs that follow from those of inputs."""
    model = os.path.join(os.path.dirname(os.environ["SPEC"]), "..", "..", "dinov3_vit")
    subprocess.run([os.environ["MILLE"], "compile", model, "--image-size=any",
                    "--name=vit", "--target=host", "-o", tmp_path], check=True)
    package = mille.load(tmp_path)
    assert package.sizes == {"batch": 0, "height": 0, "width": 0}
    session = package.session(batch=1, height=16, width=24)
    for height, width in [(16, 24), (4, 8)]:
        pixels = np.ones((1, 3, height, width), np.float32)
        result = session(pixel_values=pixels)["last_hidden_state"]
        assert result.shape == (1, 3 + height * width // 16, 24)
    with pytest.raises(mille.errors.Error, match="height is 5 but must be a multiple"):
        session(pixel_values=np.ones((1, 3, 5, 8), np.float32))
