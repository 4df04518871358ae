"""What the command says of models, as data. MILLE: the command; SPEC: a small
model; DECODER: a small decoder's folder."""
import dataclasses
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import mille
from mille import examining

ids = np.array([[1, 7, 5, 7, 2]], np.int32)


@pytest.fixture(autouse=True)
def compiler(monkeypatch):
    monkeypatch.setenv("MILLE_COMPILER", os.environ["MILLE"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    subprocess.run([os.environ["MILLE"], "compile", os.environ["SPEC"],
                    "--name=tiny", "--target=host", "-o", folder], check=True)
    return folder


def printed(*words):
    line = [os.environ["MILLE"], *words, "--json"]
    return json.loads(subprocess.run(line, check=True,
                                     capture_output=True).stdout)


def plain(value):
    """A dataclass as the JSON that it was made of."""
    if isinstance(value, examining.UnitKind):
        return {"units": value.units, "layers": value.layers, **value.facts}
    if dataclasses.is_dataclass(value):
        optional = {field.name for field in dataclasses.fields(value)
                    if field.default is None}
        return {field.name.rstrip("_"): plain(getattr(value, field.name))
                for field in dataclasses.fields(value)
                if field.name not in optional or
                getattr(value, field.name) is not None}
    return [plain(one) for one in value] if isinstance(value, tuple) else value


def test_every_key_is_a_field(folder):
    spec, decoder = os.environ["SPEC"], os.environ["DECODER"]
    for model in (spec, decoder):
        assert plain(mille.inspect(model)) == printed("inspect", model)
        assert plain(mille.analyze(model)) == printed("analyze", model)
    assert plain(mille.analyze(decoder, sample=8, norms=True, keys=64, seed=3)
                 ) == printed("analyze", decoder, "--sample=8", "--norms",
                              "--keys=64", "--seed=3")
    assert plain(mille.verify(folder, certificate=True)) == printed(
        "verify", folder, "--certificate")


def test_report(folder):
    package = mille.load(folder)
    assert package.report() == mille.report(folder) == printed("report", folder)
    found = package.report(measure=True, tokens=8)
    assert found["kernels"] and found["measured"]
    with pytest.raises(TypeError, match="token"):
        package.report(token=8)


def test_verify(folder):
    package = mille.load(folder)
    found = mille.verify(package, threads=2)
    assert found.ok and found.package == "tiny"
    assert found.comparisons[0].what == "compiled against reference"
    tensors = {one.name: one for one in found.comparisons[0].tensors}
    assert set(tensors) == {one.name for one in package.outputs}
    for one in tensors.values():
        assert one.ok and 0 <= one.max_error <= one.bound < one.max_expected
        assert one.cosine > 0.9999
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.ok = False


def test_verify_shows_experts(tmp_path):
    """In bf16 some stand at a tie, where the reference follows the package."""
    model = pathlib.Path(os.environ["DECODER"]).parent / "mixtral"
    mille.compile(model, tmp_path / "p", dtype="bf16", target="host")
    found = mille.verify(tmp_path / "p")
    assert plain(found) == printed("verify", tmp_path / "p")
    experts = found.comparisons[0].experts
    assert found.ok and experts.choices == 52 and experts.unfounded == 0
    assert 0 < experts.followed < 10
    assert mille.verify(os.environ["SPEC"]).comparisons[0].experts is None


def test_verify_finds_a_difference(folder):
    package = mille.load(folder / "tiny.so")
    name = package.outputs[0].name
    right = package.session(batch=1, tokens=8)(input_ids=ids)[name]
    found = mille.verify(package, inputs={"input_ids": ids},
                         expected={name: right})
    assert found.ok and len(found.comparisons) == 2
    wrong = right.copy()
    wrong[0, 3, 2] += 7
    found = mille.verify(package, inputs={"input_ids": ids},
                         expected={name: wrong})
    assert not found.ok
    assert [one.ok for one in found.comparisons] == [True, False]
    tensor, = found.comparisons[1].tensors
    assert not tensor.ok and tensor.where == (0, 3, 2)
    assert tensor.max_error == pytest.approx(7, rel=1e-5)
    assert tensor.expected == wrong[0, 3, 2]
    wrong[0, 3, 2] = np.inf
    tensor, = mille.verify(package, inputs={"input_ids": ids},
                           expected={name: wrong}).comparisons[1].tensors
    assert tensor.max_error is None and tensor.expected is None
    with pytest.raises(mille.InvalidArgument, match=name):
        mille.verify(package, inputs={"input_ids": ids},
                     expected={name: wrong[:, 1:]})


def test_inspect_and_analyze(folder):
    found = mille.inspect(mille.load(folder))
    kinds = [kind for place in found.stacks[0] for kind in place]
    assert [kind.facts["placement"][:9] for kind in kinds] == ["post-norm"] * 2
    assert found.parameters > 1000 and found.entries == ("forward",)
    stack, = mille.analyze(folder).stacks
    assert stack.units_count == len(stack.units) == 4
    assert stack.units[0].predicted.in_ == stack.entry > 0
    with pytest.raises(mille.InvalidArgument, match="keys"):
        mille.analyze(folder, keys=0)
    with pytest.raises(mille.InvalidArgument, match="missing.json"):
        mille.inspect("missing.json")
    with pytest.raises(mille.InvalidArgument, match="input_ids is float64"):
        mille.verify(folder, inputs={"input_ids": ids * 1.0})
