"""Trainers in Python beside `mille train`. MILLE: the command; CAUSAL: the script that
writes a small stack and its data."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mille
from mille import folders

INPUTS = pathlib.Path(__file__).resolve().parents[2] / "test/Inputs"
sys.path.insert(0, str(INPUTS))
import tensors  # noqa: E402

BATCH, TOKENS, SEED = 16, 16, 4


def causal(*words):
    subprocess.run([sys.executable, os.environ["CAUSAL"], *map(str, words)],
                   check=True)


def trained(package, folder, *words):
    """The losses of steps of `mille train`."""
    log = folder / "log"
    log.unlink(missing_ok=True)
    subprocess.run([os.environ["MILLE"], "train", package.path, "--data",
                    folder / "data", f"--batch={BATCH}", "--log", log,
                    *words], check=True)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line]


@pytest.fixture(autouse=True)
def compiler(monkeypatch):
    monkeypatch.setenv("MILLE_COMPILER", os.environ["MILLE"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """m.json and data: what test/tools/train-numbers.test trains."""
    folder = tmp_path_factory.mktemp("train")
    causal("spec", folder / "m.json", 2, "deepnorm", "dropout=0.1",
           "schedule=linear", "steps=20")
    causal("data", folder / "data", 5001)
    return folder


@pytest.fixture(scope="module")
def package(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MILLE_COMPILER", os.environ["MILLE"])
        return mille.compile(folder / "m.json", folder / "m", target="host",
                             train=True)


@pytest.fixture(scope="module")
def data(folder):
    """Tokens and labels, as a flat file is cut."""
    flat = np.fromfile(folder / "data", np.uint16).astype(np.int32)
    count = (len(flat) - 1) // TOKENS
    return tuple(flat[i:count * TOKENS + i].reshape(count, TOKENS)
                 for i in (0, 1))


@pytest.fixture
def trainer(package):
    with package.trainer(BATCH, TOKENS, threads=2) as trainer:
        yield trainer


def batch(data, step):
    rows = mille.rows_of_step(step, BATCH, len(data[0]), SEED)
    return {"input_ids": data[0][rows], "labels": data[1][rows]}


def steps(trainer, data, count):
    return [trainer.step(**batch(data, trainer.steps)).loss
            for _ in range(count)]


def test_the_bits_of_the_command(package, folder, data, trainer):
    """Past an epoch, whose order is another; int64 labels, and any threads."""
    wanted = trained(package, folder, f"--seed={SEED}", "--steps=22",
                     "--save", folder / "whole")
    assert steps(trainer, data, 10) == wanted[:10]
    assert len(data[0]) < 22 * BATCH
    trainer.set_note("seed", str(SEED))
    trainer.save(folder / "half")
    # The command goes on, and has the file that it has by itself.
    assert trained(package, folder, "--steps=12", "--resume", folder / "half",
                   "--save", folder / "other") == wanted[10:]
    marked = [(folder / name).read_bytes() for name in ("whole", "other")]
    assert marked[0] == marked[1]
    # So does another trainer, with one thread, from its file.
    with package.trainer(batch=BATCH, tokens=TOKENS, threads=1) as one:
        one.load(folder / "half")
        assert one.steps == 10 and one.note("seed") == str(SEED)
        given = batch(data, 10)
        given["labels"] = given["labels"].astype(np.int64)
        assert one.step(**given).loss == wanted[10]
        assert steps(one, data, 11) == wanted[11:]
        one.load(os.fsencode(folder / "other"))
        one.save(folder / "again")
        assert (folder / "again").read_bytes() == marked[0]


def test_words_of_compile(package, folder, data, trainer, monkeypatch,
                          tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("mille.compiling.run", lambda *words, progress:
                        (1, "", " ".join(map(os.fspath, words))))
    trainer.save(folder / "learnt")
    name = folders.marked({"weights": folder / "learnt"})
    steps(trainer, data, 1)
    trainer.save(folder / "learnt")
    assert name != folders.marked({"weights": folder / "learnt"})
    with pytest.raises(mille.InvalidArgument, match="--weights=.*learnt"):
        mille.compile(folder / "m.json", weights=folder / "learnt")
    with pytest.raises(FileNotFoundError, match="nowhere is no safetensors"):
        mille.compile(folder / "m.json", weights="nowhere")
    with pytest.raises(mille.InvalidArgument, match="safetensors.*a folder"):
        mille.compile(folder / "m.json", weights=folder)
    with pytest.raises(mille.InvalidArgument,
                       match="--weights=random:3 --train --recompute=layer"
                             " --memory=5000 --batch=2 --tokens=3$"):
        mille.compile(folder / "m.json", weights="random:3", train=True,
                      recompute="layer", memory=5000, batch=2, tokens=3)


def test_evaluate(package, folder, data, trainer):
    """Any number of sequences, without dropout; labels of -100 do not count."""
    loss, labels = trainer.evaluate(input_ids=data[0], labels=data[1])
    assert labels == data[1].size
    half = data[1].copy()
    half[:, TOKENS // 2:] = -100
    (first, some), (rest, others) = [
        trainer.evaluate(input_ids=data[0], labels=labels)
        for labels in (half, np.where(half < 0, data[1], -100))]
    assert some == others == data[1].size // 2
    assert (first + rest) / 2 == pytest.approx(loss, rel=1e-6)
    assert trainer.steps == 0
    with pytest.raises(mille.InvalidArgument, match="all .* labels are -100"):
        trainer.evaluate(input_ids=data[0], labels=np.full_like(half, -100))


def test_numbers(package, data, trainer):
    """Each changes what it names from the next step on, and None undoes it."""
    first = trainer.step(**batch(data, 0))
    assert first.step == 1 and first.labels == BATCH * TOKENS
    assert first.rate == pytest.approx(1e-3)
    trainer.set(rate=0.5, clip=1)
    trainer.set({"rate:embed*": 0, "weight_decay:{*norm*,*.bias}": 0.25})
    assert trainer.parameter("embed.weight").rate == 0
    norm = trainer.parameter("layers.1.ffn.out_norm.weight")
    assert (norm.rate, norm.weight_decay, norm.shape) == (1, 0.25, (64,))
    assert trainer.step(**batch(data, 1)).rate == 0.5
    trainer.set({"rate": None, "rate:*": None}, step=10, clip=None,
                peak_rate=np.float32(0.25))
    assert trainer.parameter("embed.weight").rate == 1
    last = trainer.step(**batch(data, 2))
    assert (last.step, last.rate) == (11, 0.25 * 0.5)
    with pytest.raises(mille.InvalidArgument, match="beta1 is 2 but must be"):
        trainer.set(beta1=2)
    with pytest.raises(mille.InvalidArgument, match="learns by adam, which"):
        trainer.set(momentum=0.5)
    with pytest.raises(mille.InvalidArgument, match="no scheduled scale 'speed', and"):
        trainer.set(speed=2)
    with pytest.raises(mille.InvalidArgument, match="a name like no\\*"):
        trainer.set({"rate:no*": 1})
    with pytest.raises(mille.InvalidArgument,
                       match="rate is 'fast' but must be a number, or None"):
        trainer.set(rate="fast")
    with pytest.raises(mille.InvalidArgument, match="rate is nan but must be"):
        trainer.set(rate=float("nan"))
    with pytest.raises(mille.InvalidArgument, match="name is 3 but must be"):
        trainer.set({3: 1})
    for wrong in (3, "rate", ["rate"]):
        with pytest.raises(mille.InvalidArgument,
                           match="must be given a mapping"):
            trainer.set(wrong)


def test_clip(data, trainer, folder):
    """A gradient of almost no length, and the package's again."""
    trainer.save(folder / "start")
    files = []
    for clip in (None, 1e-6, None):
        trainer.load(folder / "start")
        trainer.set(clip=clip)
        trainer.step(**batch(data, 0))
        trainer.save(folder / "stepped")
        files.append((folder / "stepped").read_bytes())
    assert files[0] == files[2] != files[1]


def test_a_loss_that_is_no_number(data, trainer, tmp_path):
    trainer.save(tmp_path / "good")
    trainer.set(rate=1e30)
    with pytest.raises(mille.InvalidArgument,
                       match="the loss of step [2-5] is .*its gradient's"):
        steps(trainer, data, 5)
    trainer.set(rate=None)
    trainer.load(tmp_path / "good")
    first = steps(trainer, data, 1)
    trainer.load(tmp_path / "good")
    assert steps(trainer, data, 1) == first and trainer.steps == 1


def test_report(data, trainer):
    before = trainer.report()
    assert before.last is None and before.steps == before.seconds == 0
    with pytest.raises(mille.InvalidArgument):
        trainer.step(input_ids=data[0][:BATCH],
                     labels=np.full_like(data[1][:BATCH], 64))
    last = trainer.step(**batch(data, 0))
    found = trainer.report()
    assert repr(found.last) == repr(last) == (
        f"StepReport(step=1, loss={last.loss}, labels=256, "
        f"gradient_norm={last.gradient_norm}, rate={last.rate})")
    assert (found.steps, found.sequences, found.labels) == (1, 16, 256)
    parts = (found.forward_seconds, found.backward_seconds,
             found.update_seconds)
    assert min(parts) > 0 and found.seconds == pytest.approx(sum(parts))
    assert found.state_bytes == 2 * found.weight_bytes > 0
    assert found.bytes == trainer.memory > found.session_bytes + \
        found.gradient_bytes + found.weight_bytes + found.state_bytes > \
        found.session_bytes > 0 < found.gradient_bytes


def test_gradients(data, trainer):
    """Lengths are those of the step by the same batch, and the arrays'."""
    with pytest.raises(mille.InvalidArgument, match="there are no gradients"):
        trainer.gradient("embed.weight")
    asked = trainer.gradients(**batch(data, 0))
    names = trainer.parameters()
    arrays = {name: trainer.gradient(name) for name in names}
    assert arrays["head.weight"].shape == (64, 64)
    assert arrays["head.weight"].dtype == np.float32
    lengths = [np.linalg.norm(array.astype(np.float64))
               for array in arrays.values()]
    assert np.linalg.norm(lengths) == pytest.approx(asked.gradient_norm, 1e-6)
    stepped = trainer.step(**batch(data, 0))
    assert repr(stepped) == repr(asked)
    assert [trainer.parameter(name).gradient_norm for name in names] == \
        pytest.approx(lengths, 1e-6)
    with pytest.raises(mille.InvalidArgument, match="a step uses them up"):
        trainer.gradient("embed.weight")
    with pytest.raises(mille.InvalidArgument, match="has no parameter wrong"):
        trainer.gradient("wrong")
    with pytest.raises(mille.InvalidArgument, match="has no parameter wrong"):
        trainer.parameter("wrong")


def test_weights(data, trainer, tmp_path):
    """Copies: those of a checkpoint saved then, and a later step leaves them."""
    trainer.step(**batch(data, 0))
    trainer.save(tmp_path / "now.safetensors")
    saved = tensors.load(tmp_path / "now.safetensors")
    names = trainer.parameters()
    arrays = {name: trainer.weight(name) for name in names}
    assert arrays["head.weight"].shape == (64, 64)
    for name in names:
        assert arrays[name].dtype == np.float32
        assert arrays[name].tobytes() == saved[name][2]
    kept = arrays["head.weight"].copy()
    trainer.step(**batch(data, 1))
    assert (arrays["head.weight"] == kept).all()
    assert (trainer.weight("head.weight") != kept).any()
    with pytest.raises(mille.InvalidArgument, match="has no parameter wrong"):
        trainer.weight("wrong")


def test_refusals(package, folder, data, trainer, tmp_path):
    ids, labels = data[0][:BATCH], data[1][:BATCH]
    assert [one.name for one in trainer.inputs] == [
        "input_ids", "attention_mask", "position_ids", "labels"]
    wrong = labels.copy()
    wrong[1, 2] = 64
    for words, given in [
            ("the input labels is missing", {"input_ids": ids}),
            ("has no input label$", {"input_ids": ids, "label": labels}),
            ("has no input loss_weight", {"input_ids": ids, "labels": labels,
                                          "loss_weight": np.ones(1, "f4")}),
            ("labels is float64", {"input_ids": ids, "labels": labels * 1.0}),
            ("dimension 1 of labels is 15", {"input_ids": ids,
                                             "labels": labels[:, 1:]}),
            (r"labels\[18\] is 64 but", {"input_ids": ids, "labels": wrong}),
            (r"input_ids\[1, 2\] is 64 but", {"input_ids": wrong,
                                            "labels": labels})]:
        for call in (trainer.step, trainer.evaluate, trainer.gradients):
            with pytest.raises(mille.InvalidArgument, match=words):
                call(**given)
    with pytest.raises(mille.TooLarge, match="17"):
        trainer.step(input_ids=data[0][:17], labels=data[1][:17])
    with pytest.raises(FileNotFoundError, match="nowhere"):
        trainer.load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        trainer.save(tmp_path / "nowhere" / "file")
    (tmp_path / "damaged").write_bytes(b"no checkpoint")
    with pytest.raises(mille.BadWeights, match="damaged"):
        trainer.load(tmp_path / "damaged")
    with pytest.raises(mille.InvalidArgument, match="notes its seed, its data"):
        trainer.set_note("name", "x")
    with pytest.raises(mille.InvalidArgument, match="not plain"):
        trainer.set_note("data", "\n")
    assert trainer.note("name") == trainer.note("data") == ""
    with pytest.raises(mille.InvalidArgument, match="tokens"):
        package.trainer(batch=4)
    with pytest.raises(mille.InvalidArgument, match="a whole number"):
        package.trainer(4, "many")
    with pytest.raises(mille.TooLarge, match="tokens"):
        package.trainer(4, TOKENS + 1)
    assert trainer.steps == 0  # none of these has changed anything


def test_a_package_that_infers(tmp_path):
    package = mille.compile(os.environ["SPEC"], tmp_path / "p", target="host")
    with pytest.raises(mille.InvalidArgument,
                       match="infers and cannot be trained: compile it with "
                             "train=True"):
        package.trainer(1, 8)


def test_closed(package, data):
    with package.trainer(BATCH, TOKENS, threads=1) as trainer:
        steps(trainer, data, 1)
    trainer.close()
    trainer.cancel()
    for call in (lambda: trainer.steps, trainer.report, trainer.parameters,
                 lambda: trainer.set(rate=1), lambda: trainer.save("x"),
                 lambda: trainer.step(**batch(data, 0))):
        with pytest.raises(mille.InvalidArgument,
                           match="the trainer of m is closed"):
            call()
    with pytest.raises(ZeroDivisionError):
        with package.trainer(1, TOKENS) as trainer:
            1 / 0


def test_other_threads_go_on_and_cancel(data, trainer):
    """The interpreter's lock is free in a run: what cancels it is Python."""
    many = [np.repeat(one, 200, 0) for one in data]
    ended = threading.Event()

    def cancels():
        while not ended.wait(0.01):
            trainer.cancel()

    thread = threading.Thread(target=cancels)
    steps(trainer, data, 1)
    thread.start()
    try:
        with pytest.raises(mille.Cancelled, match="the run was cancelled"):
            trainer.evaluate(input_ids=many[0], labels=many[1])
    finally:
        ended.set()
        thread.join()
    assert trainer.steps == 1
    steps(trainer, data, 1)


def test_ctrl_c(data, trainer):
    """Ends an evaluation; a step's weights are whole whenever it comes."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt():
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()

    try:
        begin = time.process_time()
        trainer.evaluate(input_ids=data[0], labels=data[1])
        once = time.process_time() - begin
        with pytest.raises(KeyboardInterrupt):
            interrupt()
            trainer.evaluate(input_ids=np.repeat(data[0], 400, 0),
                             labels=np.repeat(data[1], 400, 0))
        assert time.process_time() - begin < 200 * once
        with pytest.raises(KeyboardInterrupt):
            interrupt()
            while True:
                trainer.step(**batch(data, trainer.steps))
    finally:
        signal.signal(signal.SIGINT, before)
    done, last = trainer.steps, trainer.report().last
    assert done == trainer.report().steps == (last.step if last else 0)
    assert trainer.step(**batch(data, done)).step == done + 1


def test_rows_of_step():
    """Each epoch has every row once, in an order of its own."""
    rows = [row for step in range(10)
            for row in mille.rows_of_step(step, 3, 15, seed=7)]
    assert sorted(rows[:15]) == sorted(rows[15:]) == list(range(15))
    assert rows[:15] != rows[15:]
    assert mille.rows_of_step(0, 3, 15) != mille.rows_of_step(0, 3, 15, 7)
    for wrong in ((-1, 3, 15), (0, 0, 15), (0, 3, 0)):
        with pytest.raises(mille.InvalidArgument, match="at least 0, 1 and 1"):
            mille.rows_of_step(*wrong)
    for step, batch in ((1 << 62, 3), ((1 << 62) - 1, 2)):
        with pytest.raises(mille.InvalidArgument,
                           match="takes more rows than can be counted"):
            mille.rows_of_step(step, batch, 15)


def test_mask_tokens():
    """As `mille train --mask` hides: nothing but the counter counts."""
    tokens = np.arange(1000, dtype=np.int64) % 50
    how = {"ids": 60, "mask": 59, "seed": 3, "epoch": 2}
    hidden, labels = mille.mask_tokens(tokens, sequence=5, **how)
    chosen = labels != -100
    assert hidden.dtype == labels.dtype == np.int32
    assert 100 < chosen.sum() < 200
    assert (labels[chosen] == tokens[chosen]).all()
    assert (hidden[~chosen] == tokens[~chosen]).all()
    assert 0.6 < (hidden[chosen] == 59).mean() < 0.95
    again, _ = mille.mask_tokens(tokens, sequence=5, **how)
    other, _ = mille.mask_tokens(tokens, sequence=6, **how)
    assert (hidden == again).all() and (hidden != other).any()
    _, labels = mille.mask_tokens(tokens, never=tokens < 40, **how)
    assert set(labels) - {-100} == set(range(40, 50))
    _, halves = mille.mask_tokens(tokens, never=(tokens < 40) * 0.5, **how)
    assert (halves == labels).all()
    with pytest.raises(mille.InvalidArgument, match="rate is 2.0"):
        mille.mask_tokens(tokens, ids=60, mask=59, rate=2)
    with pytest.raises(mille.InvalidArgument, match="the mask 60 but"):
        mille.mask_tokens(tokens, ids=60, mask=60)
    with pytest.raises(mille.InvalidArgument, match="a row of 1000 numbers"):
        mille.mask_tokens(tokens, ids=60, mask=59, never=[True])
    with pytest.raises(mille.InvalidArgument, match="tokens is float64"):
        mille.mask_tokens(tokens * 1.0, ids=60, mask=59)


def test_verify_train(package):
    found = mille.verify(package, train=True)
    assert found.ok and "gradients" in found.comparisons[0].what
    names = {one.name for one in found.comparisons[0].tensors}
    assert {"embed.weight", "layers.1.attn.q.weight", "loss"} <= names
