"""CTranslate2: its encoder, f32 or int8 with dynamic scales; BERT folders only.
It removes padding itself. Converting needs transformers and torch."""
import os

import ctranslate2
import numpy as np

from peers import Refused, read_integers

VERSION = ctranslate2.__version__
TYPES = {"f32": "float32", "int8": "int8"}


def prepare(case, encoder):
    """The folder of the converted model."""
    if not os.path.isdir(case["model"]):
        raise Refused("its encoders have no scale of the residual stream")
    if case["dtype"] not in TYPES:
        raise Refused("it has no %s on CPUs" % case["dtype"])
    folder = os.path.join(case["work"], "ctranslate2")
    if not os.path.exists(os.path.join(folder, "model.bin")):
        import transformers
        from ctranslate2.converters import TransformersConverter
        # CTranslate2 needs a key that newer configurations no longer have.
        if not hasattr(transformers.BertConfig, "position_embedding_type"):
            transformers.BertConfig.position_embedding_type = "absolute"
        TransformersConverter(case["model"]).convert(folder, force=True)
    return folder


class Peer:
    def __init__(self, case, encoder):
        self.encoder = ctranslate2.Encoder(
            prepare(case, encoder), device="cpu", compute_type=TYPES[case["dtype"]],
            inter_threads=1, intra_threads=case["threads"])
        lengths = np.full(case["batch"], case["tokens"], np.int32)
        if case["mask"] is not None:
            lengths = read_integers(case, "mask", np.int32).sum(
                axis=1, dtype=np.int32)
        view = ctranslate2.StorageView.from_array
        self.arrays = read_integers(case, "ids", np.int32), lengths
        self.inputs = [view(array) for array in self.arrays]

    def run(self):
        self.result = np.array(
            self.encoder.forward_batch(*self.inputs).last_hidden_state)

    def output(self):
        return self.result.astype(np.float32).tobytes()
