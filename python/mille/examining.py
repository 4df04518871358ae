"""What the command says of a model or a package, as data. Must not compute:
the fields are the keys of its --json."""
from __future__ import annotations

import dataclasses
import json
import os
import struct
import tempfile
import typing
from dataclasses import dataclass
from typing import Any, Optional

from . import compiling
from ._mille import Package
from .errors import InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .hints import Path


# ---- verify ----------------------------------------------------------------

@dataclass(frozen=True)
class TensorDifference:
    """One tensor beside what it should be. None: infinite, or not a number."""
    name: str
    ok: bool
    max_error: Optional[float]  # largest |got - expected|
    max_expected: Optional[float]  # largest |expected|
    bound: Optional[float]  # that max_error may have
    cosine: Optional[float]  # of the two as vectors
    where: tuple[int, ...]  # the index of max_error
    got: Optional[float]  # there
    expected: Optional[float]
    least_cosine: Optional[float] = None  # None: any


@dataclass(frozen=True)
class Experts:
    """Where rows went: of two experts that are nearly equal the reference takes
    the package's."""
    choices: int  # rows of all routers
    followed: int  # that stand at such a tie
    unfounded: int  # that are not the best by the package's own logits


@dataclass(frozen=True)
class Comparison:
    """Two runs of one model, tensor by tensor."""
    what: str  # "compiled against reference"
    ok: bool
    tensors: tuple[TensorDifference, ...]
    experts: Optional[Experts] = None  # of a model that has some


@dataclass(frozen=True)
class Finding:
    """What one rewrite does to the numbers of one kind of input."""
    what: str  # a rewrite; "kernels", "fusions", "compiled before"
    inputs: str  # "random", "large mean", ...
    type: str  # "f64" or "f32"
    ok: bool
    error: Optional[float]  # relative to the largest number
    allowed: Optional[float]


@dataclass(frozen=True)
class Certificate:
    """What `mille verify --certificate` has measured of each rewrite."""
    layers: int  # that were measured
    of_layers: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Verification:
    """Whether a package computes what its model says."""
    package: str
    ok: bool
    comparisons: tuple[Comparison, ...]
    not_compared: tuple[str, ...]  # names of tensors
    certificate: Optional[Certificate] = None


# ---- inspect ---------------------------------------------------------------

@dataclass(frozen=True)
class UnitKind:
    """Residual units that are alike."""
    units: int
    layers: str  # "0-11"
    facts: dict[str, str]  # "placement", "attention", "mask", ...


@dataclass(frozen=True)
class Inspection:
    """What a model is."""
    model: str
    parameters: int
    entries: tuple[str, ...]
    tables: tuple[str, ...]  # of embeddings
    # Of each stack, of each place in its layers: the kinds of units there.
    stacks: tuple[tuple[tuple[UnitKind, ...], ...], ...]
    family: Optional[str] = None


# ---- analyze ---------------------------------------------------------------
# docs/analyze.md says what each number means. None: infinite.

@dataclass(frozen=True)
class Updates:
    """Of one step of each optimiser."""
    sgd: Optional[float]
    adam: Optional[float]
    lamb: Optional[float]


@dataclass(frozen=True)
class Moments:
    """Second moments, and what of a unit reaches the end."""
    in_: Optional[float]
    branch: Optional[float]
    sum: Optional[float]
    out: Optional[float]
    input_weight: Optional[float]
    gradient: Optional[float]
    update: Updates
    branch_weight: Optional[float] = None  # of predicted ones


@dataclass(frozen=True)
class Logits:
    """What attention's logits come to."""
    second_moment: Optional[float]
    saturation: Optional[float]
    keys: Optional[float]


@dataclass(frozen=True)
class Range:
    """How large numbers become."""
    predicted_largest: Optional[float]
    fits_f16: bool
    fits_bf16: bool
    bound: Optional[float] = None  # with norms
    measured_largest: Optional[float] = None  # with sample or inputs
    measured_second_moment: Optional[float] = None
    measured_out: Optional[float] = None


@dataclass(frozen=True)
class Matrix:
    """One matrix of a unit's weights."""
    name: str
    second_moment: Optional[float]
    operator_norm: Optional[float] = None  # with norms
    magnitude: Optional[float] = None


@dataclass(frozen=True)
class Unit:
    """One residual unit of a stack."""
    unit: str  # "attn", "ffn", ...
    layer: int
    placement: str
    skip_scale: Optional[float]
    predicted: Moments
    predicted_narrow: Moments  # of as few channels as the simulation has
    simulated: Moments
    logits: tuple[Logits, ...]
    range: Range
    taken_as_keeping_the_moment: tuple[str, ...]
    matrices: tuple[Matrix, ...]


@dataclass(frozen=True)
class Stack:
    """One stack of units, and what depth does to it as a whole."""
    units_count: int
    placement: str
    channels: Optional[float]
    entry: Optional[float]
    final_norm: bool
    effective_depth: Optional[float]
    input_weight: Optional[float]
    update_predicted: Updates
    update_simulated: Updates
    update_over_one_layer: Updates
    update_power_of_layers: Updates
    update_over_deepnorm: Optional[float]
    advice: tuple[str, ...]
    units: tuple[Unit, ...]


@dataclass(frozen=True)
class Analysis:
    """What depth does to a model."""
    model: str
    weights: str
    keys: Optional[float]
    simulated_channels: int
    simulated_draws: int
    simulated_cosine_floor: float  # an input_weight below it may be 0
    stacks: tuple[Stack, ...]
    sample: Optional[str] = None


# ---- reading ---------------------------------------------------------------

def made(hint: Any, value: Any) -> Any:
    """`value` of JSON as the type of a field."""
    inner = typing.get_args(hint)
    if value is None:
        return None
    if typing.get_origin(hint) is typing.Union:
        return made(inner[0], value)
    if typing.get_origin(hint) is tuple:
        return tuple(made(inner[0], one) for one in value)
    if hint is UnitKind:
        facts = {key: fact for key, fact in value.items()
                 if key not in ("units", "layers")}
        return UnitKind(units=value["units"], layers=value["layers"],
                        facts=facts)
    if not dataclasses.is_dataclass(hint):
        return value
    kind: Any = hint
    hints = typing.get_type_hints(kind)
    # A later command may say more than these fields hold.
    return kind(**{name: made(hints[name], value[name.rstrip("_")])
                   for name in hints if name.rstrip("_") in value})


def answer(kind: type, words: list[Path]) -> Any:
    """What the command prints with --json. One that finds a difference says
    so by its status too, and has printed it."""
    status, text, why = compiling.run(*words, "--json")
    if status and not text:
        compiling.fail(status, why)
    return made(kind, json.loads(text))


def place(subject: Package | Path) -> Path:
    """The path of a package or a model."""
    if not isinstance(subject, Package):
        return subject
    path = subject.path
    return path if os.path.isdir(path) else os.path.dirname(path)


def write(path: Path, arrays: dict[str, Any]) -> None:
    """Arrays by name as a safetensors file."""
    import numpy as np
    kinds = {"float32": "F32", "int32": "I32", "int64": "I64"}
    header, parts, end = {}, [], 0
    for name, given in arrays.items():
        array = np.ascontiguousarray(given)
        kind = kinds.get(array.dtype.name)
        if kind is None:
            raise InvalidArgument(f"{name} is {array.dtype.name} but must be "
                                  f"one of {', '.join(kinds)}")
        parts.append(array.astype(array.dtype.newbyteorder("<")).tobytes())
        header[name] = {"dtype": kind, "shape": array.shape,
                        "data_offsets": [end, end + len(parts[-1])]}
        end += len(parts[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.writelines([struct.pack("<Q", len(text)), text, *parts])


class Tensors:
    """A safetensors file of the caller's, or one that is written for a call
    of arrays by name."""

    def __init__(self, given: Path | dict[str, Any] | None):
        self.given = given
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Path | None:
        if not isinstance(self.given, dict):
            return self.given
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "tensors.safetensors")
        write(path, self.given)
        return path

    def __exit__(self, *_: object) -> None:
        if self.folder:
            self.folder.cleanup()


def verify(package: Package | Path, *,
           inputs: dict[str, Any] | Path | None = None,
           expected: dict[str, Any] | Path | None = None, threads: int = 1,
           certificate: bool = False, train: bool = False,
           device: str | None = None) -> Verification:
    """Compares a package (mille.Package, its folder, or a model) with the
    reference in double: a Verification, whose `ok` may be False. inputs and
    expected: {name: array}, or the path of a safetensors file; default: random
    inputs of one seed. certificate: also measure each rewrite again.
    train: of a package that trains, or a model compiled so, the gradients of
    every parameter by a step."""
    with Tensors(inputs) as given, Tensors(expected) as wanted:
        words = ["verify", place(package), f"--threads={threads}"]
        words += ["--inputs", given] if given is not None else []
        words += ["--expected", wanted] if wanted is not None else []
        words += ["--certificate"] if certificate else []
        words += ["--train"] if train else []
        words += [f"--device={device}"] if device is not None else []
        return answer(Verification, words)


def inspect(model: Package | Path) -> Inspection:
    """What a model, or a package's model, is: an Inspection."""
    return answer(Inspection, ["inspect", place(model)])


def report(package: Package | Path, *, measure: bool = False, batch: int = 1,
           tokens: int = 128, threads: int = 1) -> dict[str, Any]:
    """All that `mille report --json` says of a package (mille.Package or its
    folder), as a dictionary: units, layers, kernels, fusions, rewrites, memory
    in bytes. measure: it also runs `batch` sequences of `tokens` tokens, and
    says how long each kernel takes (docs/report.md)."""
    words = ["report", place(package)]
    words += ["--measure", f"--batch={batch}", f"--tokens={tokens}",
              f"--threads={threads}"] if measure else []
    return answer(dict, words)


def analyze(model: Package | Path, *, weights: Path | None = None,
            inputs: dict[str, Any] | Path | None = None, sample: int = 0,
            norms: bool = False, keys: int = 128, seed: int = 1) -> Analysis:
    """What depth does to a model, or to a package's: an Analysis. weights: a
    safetensors file, "none" or "random:SEED" in place of the model's; sample:
    tokens of a run that is measured, or `inputs` as verify takes them; norms:
    bound every sum by the operator norms of the weights."""
    with Tensors(inputs) as given:
        words = ["analyze", place(model), f"--keys={keys}", f"--seed={seed}"]
        words += [f"--weights={weights}"] if weights is not None else []
        words += ["--inputs", given] if given is not None else []
        words += [f"--sample={sample}"] if sample else []
        words += ["--norms"] if norms else []
        return answer(Analysis, words)
