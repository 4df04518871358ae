"""Generation in Python. MILLE: the command; DECODER: a small decoder's folder."""
import gc
import os
import signal
import subprocess
import threading

import numpy as np
import pytest

import mille

prompt = [1, 5, 2, 9]
greedy = {"temperature": 0}


@pytest.fixture(autouse=True)
def interruptible():
    """A job in the background of a shell begins with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decoder")
    subprocess.run([os.environ["MILLE"], "compile", os.environ["DECODER"],
                    "--entries=next", "--name=tiny", "--target=host", "-o", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def package(folder):
    return mille.load(folder)


@pytest.fixture
def generation(package):
    return package.generation(context=64, sequences=3, threads=1)


def test_compiled_with_a_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MILLE_COMPILER", os.environ["MILLE"])
    made = mille.compile(os.environ["DECODER"], tmp_path / "made",
                         entries="next", cache="int8")
    assert made.manifest["cache"] == "int8"
    generation = made.generation(context=64, sequences=1, threads=1)
    assert len(list(generation.generate([1, 5, 2], max_tokens=4))) == 4
    with pytest.raises(mille.InvalidArgument, match="int4"):
        mille.compile(os.environ["DECODER"], tmp_path / "none",
                      entries="next", cache="int4")


def test_a_text_to_calibrate_is_handed_on(tmp_path, monkeypatch):
    monkeypatch.setenv("MILLE_COMPILER", os.environ["MILLE"])
    text = tmp_path / "text"
    text.write_text("some words")
    with pytest.raises(mille.InvalidArgument, match="--calibrate is given but"):
        mille.compile(os.environ["DECODER"], tmp_path / "none", calibrate=text)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        mille.compile(os.environ["DECODER"], calibrate=tmp_path / "nowhere")


def command(folder, *options):
    line = [os.environ["MILLE"], "generate", folder, "--ids=1,5,2,9",
            "--max-tokens=12", *options]
    done = subprocess.run(line, check=True, capture_output=True, text=True)
    return [int(id) for id in done.stdout.split(",")]


def run(generation, ids):
    sequence = generation.open()
    generation.append(sequence, ids)
    generation.decode()
    return sequence


def go_on(generation, sequence, count):
    for _ in range(count):
        generation.decode()
        generation.append(sequence, [generation.sample(sequence, **greedy)])
    return generation.ids(sequence)


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    """A small decoder beside an encoder."""
    folder = tmp_path_factory.mktemp("translator")
    model = os.path.join(os.path.dirname(os.environ["DECODER"]), "bart")
    subprocess.run([os.environ["MILLE"], "compile", model, "--entries=next",
                    "--name=tiny", "--target=host", "-o", folder], check=True)
    return folder


def test_sources_and_beams(translator):
    generation = mille.load(translator).generation(context=20, sequences=4, threads=1)
    s = generation.open()
    with pytest.raises(ValueError, match="takes ids, not numbers"):
        generation.source(s, np.zeros(4, "float32"))
    generation.source(s, prompt)
    generation.append(s, [2])
    ids, score = generation.beams(s, 4, 9, end=[7, 11], length_penalty=0.5,
                                  early_stopping="never")
    assert 1 <= len(ids) <= 9 and score < 0
    assert generation.ids(s) == [2]
    with pytest.raises(ValueError, match="beams is 9 but must be 1 to 8"):
        generation.beams(s, 9)
    with pytest.raises(ValueError, match="early_stopping is 3 but must be True"):
        generation.beams(s, early_stopping=3)
    # One beam is the likeliest id at each step; the rules of the model's folder
    # are the command's, which here forces the last id.
    one, _ = generation.beams(s, 1, 6)
    assert generation.ids(s) == [2]
    done = subprocess.run([os.environ["MILLE"], "generate", translator,
                           "--ids=1,5,2,9", "--max-tokens=7", "--beams=1"],
                          check=True, capture_output=True, text=True)
    said = [int(id) for id in done.stdout.split(",")]
    assert said == one[:len(said)]
    other = generation.fork(s)
    assert generation.beams(other, 1, 6)[0] == one


def test_equal_to_the_command(folder, generation):
    wanted = command(folder, "--temperature=0")
    assert len(set(wanted)) > 1
    assert list(generation.generate(prompt, 12, **greedy)) == wanted
    sequence = run(generation, np.array(prompt))
    assert go_on(generation, sequence, 12) == prompt + wanted
    wanted = command(folder, "--temperature=2", "--seed=7", "--top-k=0",
                     "--top-p=1", "--min-p=0")
    drawn = {"temperature": 2.0, "top_k": 0, "top_p": 1, "min_p": 0}
    assert list(generation.generate(prompt, 12, seed=7, **drawn)) == wanted
    assert list(generation.generate(prompt, 12, seed=8, **drawn)) != wanted


def test_generate_ends(generation):
    wanted = list(generation.generate(prompt, 12, **greedy))
    place = max(wanted.index(id) for id in wanted)
    assert list(generation.generate(prompt, 12, end=[wanted[place]],
                                    **greedy)) == wanted[:place]
    assert list(generation.generate(prompt, 0)) == []
    begun = [generation.generate(prompt, 3) for _ in range(3)]
    [next(answer) for answer in begun]
    with pytest.raises(mille.TooLarge, match="all 3 sequences are open"):
        generation.generate(prompt)
    begun.pop().close()
    assert len(list(generation.generate(prompt, 3))) == 3
    begun.clear()
    gc.collect()
    assert [generation.open() for _ in range(3)] == [0, 1, 2]


def test_an_answer_outlives_its_names(folder):
    wanted = command(folder, "--temperature=0")
    answer = mille.load(folder).generation(context=64).generate(
        prompt, 12, **greedy)
    gc.collect()
    assert list(answer) == wanted


def test_fork_and_rewind(generation):
    sequence = run(generation, prompt)
    alone = go_on(generation, sequence, 8)
    fork = generation.fork(sequence, 6)
    assert generation.ids(fork) == alone[:6]
    assert go_on(generation, fork, 6) == alone
    whole = generation.fork(sequence)
    assert generation.ids(whole) == alone
    generation.close(whole)
    generation.rewind(sequence, 5)
    assert go_on(generation, sequence, 7) == alone
    assert generation.follow(sequence, alone[:3] + [60, 61]) == 3
    assert generation.ids(sequence) == alone[:3] + [60, 61]


def test_save_and_load(package, generation, tmp_path):
    sequence = run(generation, prompt)
    generation.save(sequence, tmp_path / "state")
    wanted = generation.logits(sequence)
    other = package.generation(context=32)
    loaded = other.load(tmp_path / "state")
    assert other.ids(loaded) == prompt
    other.decode()
    assert np.array_equal(other.logits(loaded), wanted)
    assert np.array_equal(other.output(loaded, "logits"), wanted)
    assert np.array_equal(other.output(loaded, "last_hidden_state"),
                          generation.output(sequence, "last_hidden_state"))
    with pytest.raises(mille.InvalidArgument, match="have no output hidden$"):
        other.output(loaded, "hidden")
    with pytest.raises(FileNotFoundError, match="missing"):
        generation.load(tmp_path / "missing")
    (tmp_path / "bad").write_bytes(b"no state of a sequence" * 9)
    with pytest.raises(mille.InvalidArgument):
        generation.load(tmp_path / "bad")


def test_logits(generation):
    sequence = run(generation, prompt)
    logits = generation.logits(sequence)
    assert logits.shape == (generation.vocabulary,) == (64,)
    logs = logits.astype(np.float64)
    logs -= logs.max()
    logs -= np.log(np.exp(logs).sum())
    best = generation.likeliest(sequence, 5)
    assert [id for id, _ in best] == list(np.argsort(-logs, kind="stable")[:5])
    for id, logprob in best:
        assert logprob == pytest.approx(logs[id], abs=1e-5)
        assert generation.logprob(sequence, id) == logprob
    first, second = best[0][0], best[1][0]
    sample = generation.sample
    assert sample(sequence, **greedy) == first
    assert sample(sequence, bias={first: -np.inf}, **greedy) == second
    assert sample(sequence, allowed=[second, 63], **greedy) in (second, 63)


@pytest.mark.parametrize("options, sentence", [
    ({"temperature": -1}, "-1"),
    ({"temperature": "hot"}, "temperature is 'hot' but must be a number"),
    ({"top_k": 1.5}, "top_k is 1.5 but must be a whole number"),
    ({"seed": -1}, "seed is -1"),
    ({"bias": {64: 1.0}}, "64"),
    ({"bias": {"a": 1.0}}, "bias maps 'a' to 1.0"),
    ({"bias": [1]}, r"bias is \[1\] but must map"),
    ({"allowed": [64]}, "the id 64 but the model has 64 ids"),
    ({"allowed": []}, "mask"),
    ({"heat": 1}, "no sampling option heat"),
])
def test_bad_sampling(generation, options, sentence):
    sequence = run(generation, prompt)
    with pytest.raises(mille.InvalidArgument, match=sentence):
        generation.sample(sequence, **options)


@pytest.mark.parametrize("ids, sentence", [
    ([64], "id 64 of place 0 is not in the vocabulary"),
    ([1, 2 ** 40], "id 1099511627776 of place 1 is no int32"),
    ([1.5], "id 1.5 of place 0 is no int32"),
    (np.array([1.0]), "of place 0 is no int32"),
    (np.array([[1, 2]]), "of place 0 is no int32"),
    (3, "ids are 3"),
    ([1] * 65, "65 tokens but there is room for 64"),
])
def test_bad_ids(generation, ids, sentence):
    sequence = run(generation, prompt[:0])
    for call in (lambda: generation.append(sequence, ids),
                 lambda: generation.generate(ids)):
        with pytest.raises(ValueError, match=sentence):
            call()
    assert generation.ids(sequence) == []
    assert [generation.open(), generation.open()] == [1, 2]


def test_bad_calls(package, generation):
    with pytest.raises(mille.InvalidArgument, match="sequence 9 is not open"):
        generation.ids(9)
    with pytest.raises(mille.InvalidArgument):
        generation.sample(generation.open(), **greedy)
    with pytest.raises(mille.InvalidArgument, match="must be 0 to 64"):
        generation.likeliest(0, 65)
    with pytest.raises(mille.InvalidArgument, match="max_tokens is -1"):
        generation.generate(prompt, -1)
    with pytest.raises(mille.InvalidArgument, match="context is 0"):
        package.generation(context=0)
    answer = package.generation(context=6).generate(prompt, 9)
    with pytest.raises(mille.TooLarge, match="room for 6"):
        list(answer)


@pytest.mark.parametrize("error", [KeyboardInterrupt, mille.Cancelled])
def test_a_step_stops(package, error):
    generation = package.generation(context=7000, threads=1)
    ids = list(np.arange(7000) % 60)
    wanted = run(generation, ids)
    logits = generation.logits(wanted)
    generation.rewind(wanted, 0)
    generation.append(wanted, ids)
    stop = generation.cancel if error is mille.Cancelled else \
        lambda: os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.05, stop)
    with pytest.raises(error):
        timer.start()
        generation.decode()
    generation.decode()
    assert np.array_equal(generation.logits(wanted), logits)


def test_an_answer_is_of_one_thread(package):
    answer = package.generation(context=8000, threads=1).generate(
        np.arange(7000) % 60, 3, **greedy)
    got = []

    def work():
        try:
            got.append(next(answer))
        except mille.InvalidArgument as error:
            got.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert got[0] == "another thread waits for this answer's next id"
    assert len([got[1], *answer]) == 3


def test_other_threads_go_on(package):
    generation = package.generation(context=7000, threads=1)
    sequence = generation.open()
    generation.append(sequence, list(np.arange(7000) % 60))
    worker = threading.Thread(target=generation.decode)
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
    assert turns > 1000


def test_manifest(folder, package, tmp_path, monkeypatch):
    manifest = package.manifest
    assert manifest["name"] == "tiny"
    assert [e["name"] for e in manifest["entries"]] == package.entries
    monkeypatch.chdir(folder.parent)
    opened = mille.load(folder.name)
    monkeypatch.chdir(tmp_path)
    assert opened.manifest == manifest
    assert mille.load(folder / "tiny.so").manifest == manifest
    (folder / "tiny.json").rename(folder / "gone.json")
    try:
        with pytest.raises(mille.FileError, match="tiny.json"):
            package.manifest
        (folder / "tiny.json").write_text("[")
        with pytest.raises(mille.InvalidArgument, match="no manifest"):
            package.manifest
    finally:
        (folder / "gone.json").replace(folder / "tiny.json")
