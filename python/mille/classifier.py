"""Classes and scores of texts and of pairs of texts, from a model's logits
[batch, classes]: what config.json says of them is done here, a row at a
time."""
from __future__ import annotations

import os
import sys

import numpy as np

from . import folders
from .batches import Runner, checked
from .errors import InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Sequence, Union

    from .hints import Encoding, Path

    Activation = Union[str, Callable[[Any], Any]]


def identity(logits: np.ndarray) -> np.ndarray:
    """The logits themselves."""
    return logits


def sigmoid(logits: np.ndarray) -> np.ndarray:
    # tanh overflows for no number, where exp does.
    """1 / (1 + exp(-x)) of each logit, float32."""
    half = np.float32(0.5)
    return half + half * np.tanh(half * logits)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities of the classes, the last dimension: their sum is 1."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


FUNCTIONS = {"none": identity, "sigmoid": sigmoid, "softmax": softmax}


def function(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """One of FUNCTIONS by its name."""
    if name not in FUNCTIONS:
        raise InvalidArgument(f"the function of the logits is {name!r} but must"
                              f" be one of {', '.join(FUNCTIONS)}")
    return FUNCTIONS[name]


def applied(given: Activation) -> Callable[[np.ndarray], np.ndarray]:
    """A function of logits [pairs, classes] to scores of this shape: one of
    FUNCTIONS by its name, a function of an array, or a module of torch."""
    if isinstance(given, str):
        return function(given)
    if not callable(given):
        raise InvalidArgument(f"activation_fn is {given!r} but must be a "
                              f"function, or one of {', '.join(FUNCTIONS)}")
    torch = sys.modules.get("torch")  # else the caller has no module of it
    module = torch is not None and isinstance(given, torch.nn.Module)

    def apply(logits):
        scores = np.asarray(
            given(torch.from_numpy(logits)).detach() if module
            else given(logits), np.float32)
        if scores.shape != logits.shape:
            raise InvalidArgument(
                f"activation_fn gives {list(scores.shape)} numbers but must "
                f"give {list(logits.shape)}, one for each logit")
        return scores
    return apply


class Logits:
    """What classifiers and a cross-encoder share: the logits of a folder."""
    _dimensions, _purpose = 2, "a classifier"  # of the logits

    def __init__(self, folder: Path, model_dir: Path | None = None, *,
                 dtype: str = "f32", target: str | None = None,
                 threads: int = 0, max_length: int | None = None):
        package, self.model_dir = folders.find(folder, model_dir, dtype, target)
        weights = folders.transformer(self.model_dir)
        self._runner = Runner(package, weights, max_length, threads)
        self._labels = self._runner.wants("logits", self._dimensions,
                                          self._purpose)[-1]
        self.config = folders.read(os.path.join(weights, "config.json"), {})
        names = self.config.get("id2label") or {}
        self.id2label = {i: names.get(str(i), f"LABEL_{i}")
                         for i in range(self._labels)}

    def logits(self, texts: list[Any], batch_size: int,
               progress: bool = False) -> np.ndarray:
        """[texts, classes] float32 of texts or pairs, in their order."""
        return self.logits_of(self._runner.tokenizer.encode_batch(texts),
                              batch_size, progress)

    def logits_of(self, encodings: Sequence[Encoding], batch_size: int,
                  progress: bool = False) -> np.ndarray:
        """The same of texts that are tokens already."""
        out = np.zeros((len(encodings), self._labels), np.float32)
        done = np.zeros(len(encodings), bool)
        for numbers, _, outputs in self._runner.batches(encodings, batch_size,
                                                        progress):
            out[numbers] = outputs["logits"]
            done[numbers] = True
        if not done.all():
            raise InvalidArgument(f"text number {int(done.argmin())} has no "
                                  "token")
        return out


class CrossEncoder(Logits):
    """Scores of pairs of texts, as sentence-transformers' CrossEncoder. The
    arguments are those of Encoder. activation_fn: in place of the folder's, as
    `predict` takes it."""

    def __init__(self, folder: Path, model_dir: Path | None = None, *,
                 activation_fn: Activation | None = None, **options: Any):
        super().__init__(folder, model_dir, **options)
        self._activation = self._default_activation() \
            if activation_fn is None else applied(activation_fn)

    def _default_activation(self):
        own = self.config.get("sentence_transformers") or {}
        beside = folders.read(os.path.join(
            self.model_dir, "config_sentence_transformers.json"), {})
        path = own.get("activation_fn") or beside.get("activation_fn") or \
            self.config.get("sbert_ce_default_activation_function")
        if path is None:
            return sigmoid if self._labels == 1 else identity
        name = path.rsplit(".", 1)[-1]
        if name not in ("Identity", "Sigmoid"):
            raise InvalidArgument(f"{self.model_dir} has the activation {path} "
                                  "but must have Identity or Sigmoid")
        return identity if name == "Identity" else sigmoid

    def predict(self, sentences: Sequence[Any], batch_size: int = 32,
                show_progress_bar: bool = False,
                activation_fn: Activation | None = None,
                apply_softmax: bool = False, convert_to_numpy: bool = True,
                convert_to_tensor: bool = False) -> Any:
        """[pairs] float32, or [pairs, classes] where there are several; of one
        pair its own score or row. A list of them if not convert_to_numpy; a
        tensor of torch with convert_to_tensor. activation_fn: of the logits
        [pairs, classes], in place of the model's: "none", "sigmoid",
        "softmax", a function of an array, or a module of torch.
        InvalidArgument: a pair is none, or the function gives another shape."""
        sentences = list(sentences)
        single = len(sentences) == 2 and isinstance(sentences[0], str)
        pairs = [sentences] if single else sentences
        for i, pair in enumerate(pairs):
            if isinstance(pair, str) or len(pair) != 2:
                raise InvalidArgument(f"number {i} is {pair!r} but must be a "
                                      "pair of texts")
            checked(pair, f"each text of pair {i}")
        activation = self._activation if activation_fn is None \
            else applied(activation_fn)
        scores = activation(self.logits([tuple(pair) for pair in pairs],
                                        batch_size, show_progress_bar))
        if apply_softmax and self._labels > 1:
            scores = softmax(scores)
        if self._labels == 1:
            scores = scores[:, 0]
        if convert_to_tensor:
            import torch
            scores = torch.from_numpy(scores)
        if single:
            return scores[0]
        return scores if convert_to_numpy or convert_to_tensor else list(scores)

    def rank(self, query: str, documents: Iterable[str],
             top_k: int | None = None, return_documents: bool = False,
             batch_size: int = 32,
             show_progress_bar: bool = False,
             activation_fn: Activation | None = None) -> list[dict[str, Any]]:
        """[{corpus_id, score, text?}], the best document first; equal ones in
        the order given."""
        if self._labels != 1:
            raise InvalidArgument("rank needs one score a pair but "
                                  f"{self.model_dir} gives {self._labels}")
        documents = checked(documents, "a document")
        scores = self.predict([(query, one) for one in documents], batch_size,
                              show_progress_bar, activation_fn)
        order = np.argsort(-scores, kind="stable")[:top_k]
        ranked = [{"corpus_id": int(i), "score": scores[i]} for i in order]
        if return_documents:
            for one in ranked:
                one["text"] = documents[one["corpus_id"]]
        return ranked


UNSAID = object()  # top_k is not given


def text_or_pair(given: object, number: int) -> str | tuple[str, str]:
    """What the tokenizer takes of a text, or of a dictionary of two."""
    if isinstance(given, str):
        return given
    if not isinstance(given, dict) or "text" not in given or \
            set(given) - {"text", "text_pair"}:
        raise InvalidArgument(f"number {number} is {given!r} but must be a "
                              "text, or {'text': ..., 'text_pair': ...}")
    texts = checked(given.values(), f"each text of number {number}")
    return given["text"] if len(texts) == 1 else \
        (given["text"], given["text_pair"])


class Classifier(Logits):
    """Classes of texts and of pairs of texts, as transformers' pipeline
    "text-classification". The arguments are those of Encoder."""

    def _default_function(self):
        kind = self.config.get("problem_type")
        if kind == "regression":
            return "none"
        several = kind == "multi_label_classification"
        return "sigmoid" if several or self._labels == 1 else "softmax"

    def __call__(self,
                 texts: str | dict[str, str] | Iterable[str | dict[str, str]],
                 top_k: Any = UNSAID, function_to_apply: str | None = None,
                 batch_size: int = 32) -> list[Any]:
        """[{label, score}] of each text, the likeliest alone; with top_k=N or
        None (all) a list of them for each text, the likeliest first. A pair
        of texts is {"text": ..., "text_pair": ...}."""
        single = isinstance(texts, (str, dict))
        given = [text_or_pair(one, i)
                 for i, one in enumerate([texts] if single else texts)]
        alone = top_k is UNSAID
        top_k = 1 if alone else top_k
        if top_k is not None and (not isinstance(top_k, int) or top_k < 1):
            raise InvalidArgument(f"top_k is {top_k!r} but must be a whole "
                                  "number from 1, or None")
        apply = function(function_to_apply or self._default_function())
        answers = []
        for row in apply(self.logits(given, batch_size)):
            order = np.argsort(-row, kind="stable")[:top_k]
            answers.append([{"label": self.id2label[int(i)],
                             "score": float(row[i])} for i in order])
        if alone:
            return [answer[0] for answer in answers]
        return answers[0] if single else answers
