"""Runs Transformer models that Mille has compiled.

>>> package = mille.load("encoder")
>>> session = package.session(8, 128)    # batch, tokens
>>> outputs = session(input_ids=ids)    # {name: float32 array}

and trains them:

>>> trainer = mille.compile("gpt.json", train=True).trainer(8, 128)
>>> trainer.step(input_ids=ids, labels=labels).loss
"""
from __future__ import annotations

import importlib

from .errors import (BadWeights, Cancelled, Error, FileError, InternalError,
                     InvalidArgument, NoDevice, OutOfMemory, TooLarge,
                     UnsupportedCpu)
from ._mille import (Generation, Package, Session, StepReport, Tensor,
                     TrainedParameter, Trainer, TrainingReport, load,
                     mask_tokens, rows_of_step)

TYPE_CHECKING = False  # checkers know the name; typing takes long to import
if TYPE_CHECKING:
    from .classifier import Classifier, CrossEncoder
    from .compiling import compile
    from .encoder import Encoder
    from .examining import analyze, inspect, report, verify
    from .tagger import TokenClassifier

# Imported at their first use: they bring NumPy and half of Python's library.
_later = {"Classifier": "classifier", "CrossEncoder": "classifier",
          "Encoder": "encoder", "TokenClassifier": "tagger",
          "analyze": "examining", "compile": "compiling",
          "inspect": "examining", "report": "examining", "verify": "examining"}

__all__ = ["BadWeights", "Cancelled", "Classifier", "CrossEncoder", "Encoder",
           "Error", "FileError", "Generation", "InternalError",
           "InvalidArgument", "NoDevice", "OutOfMemory", "Package",
           "Session", "StepReport", "Tensor", "TokenClassifier", "TooLarge",
           "TrainedParameter", "Trainer", "TrainingReport", "UnsupportedCpu",
           "analyze", "compile", "inspect", "load", "mask_tokens", "report",
           "rows_of_step", "verify"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in _later:
        raise AttributeError(f"module 'mille' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_later[name]}", __name__),
                    name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_later})
