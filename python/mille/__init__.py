"""Runs Transformer models that `mille compile` has made.

    package = mille.load("folder")
    session = package.session(batch=8, tokens=128)
    outputs = session(input_ids=ids)    # {name: float32 array}
"""
from .errors import (BadWeights, Cancelled, Error, FileError, InternalError,
                     InvalidArgument, NoDevice, OutOfMemory, TooLarge,
                     UnsupportedCpu)
from .classifier import Classifier, CrossEncoder
from .compiling import compile
from .encoder import Encoder
from ._mille import Generation, Package, Session, Tensor, load

__all__ = ["BadWeights", "Cancelled", "Classifier", "CrossEncoder", "Encoder",
           "Error", "FileError", "Generation", "InternalError",
           "InvalidArgument", "NoDevice", "OutOfMemory", "Package",
           "Session", "Tensor", "TooLarge", "UnsupportedCpu", "compile",
           "load"]
__version__ = "0.1.0"
