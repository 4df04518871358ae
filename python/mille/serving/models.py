"""What a folder answers to: vectors of texts, scores of pairs, or texts that go
on. Must not know what HTTP is."""
from __future__ import annotations

import os

import numpy as np

from .. import folders, tokens
from ..classifier import CrossEncoder
from ..encoder import Encoder
from ..errors import InvalidArgument
from .joiner import Joiner
from .templates import ChatTemplate
from .writer import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any, Callable, Sequence, Union

    from .._mille import Package
    from ..hints import Encoding


def kind_of(model: str) -> str:
    """The class of transformers that the model's config.json names."""
    config = folders.read(os.path.join(folders.transformer(model),
                                       "config.json"), {})
    return (config.get("architectures") or [""])[0]


class Served:
    """One model, and the queue of its thread. A subclass runs it."""
    task: str
    run: Callable[[list[Encoding]], Any]  # a sequence, a result of each

    def __init__(self, name: str, made: Encoder | CrossEncoder,
                 options: argparse.Namespace):
        self.name = name
        self.runner = made._runner
        self.longest = self.runner.max_length
        self.below = next(
            (one.get("below") for entry in self.runner.package.manifest[
                "entries"][:1] for one in entry["inputs"]
             if one["name"] == "input_ids"), None)
        self.runner.reserve(options.batch, self.runner.max_length)
        self.joiner = Joiner(self.run, options.batch, options.wait / 1000,
                             options.queue)

    def tokens(self, texts: list[Any]) -> Sequence[Encoding]:
        """The encodings of texts, of pairs of them, or of lists of ids as they
        are. InvalidArgument: an id that the model does not have, which would
        fail the requests that run with it too."""
        made: Sequence[Encoding] = \
            [tokens.Ids(ids[:self.longest]) for ids in texts] \
            if isinstance(texts[0], list) \
            else self.runner.tokenizer.encode_batch(texts)
        for i, one in enumerate(made):
            if self.below and one.ids and max(one.ids) >= self.below:
                raise InvalidArgument(
                    f"number {i} has the id {max(one.ids)} but the ids of "
                    f"{self.name} are below {self.below}")
        return made


class Vectors(Served):
    """An encoder, with the folder's prompt and normalising."""
    task = "embeddings"

    def __init__(self, name: str, folder: str, options: argparse.Namespace,
                 **choices: Any):
        self.encoder = Encoder(folder, **choices)
        self.width = self.encoder.get_sentence_embedding_dimension()
        self.prompt = self.encoder._prompt(None, None)
        self.skipped = self.encoder._skipped(self.prompt)
        super().__init__(name, self.encoder, options)

    def tokens(self, texts: list[Any]) -> Sequence[Encoding]:
        """The encodings of texts behind the folder's prompt, or of ids."""
        if isinstance(texts[0], str):
            texts = self.encoder.prepared(texts, self.prompt)
        elif self.skipped:
            raise InvalidArgument(f"{self.name} leaves the tokens of its "
                                  "prompt out, which ids do not show: give "
                                  "texts")
        return super().tokens(texts)

    def run(self, encodings: list[Encoding]) -> np.ndarray:
        """[texts, channels] float32."""
        vectors = self.encoder._pooled(encodings, self.skipped,
                                       len(encodings), False)
        return self.encoder._finished(vectors, None, False)

    def shortened(self, vectors: list[np.ndarray],
                  channels: int | None) -> np.ndarray:
        """The first numbers of vectors that `run` gave, or all; of a folder
        that normalises they have the length 1 again."""
        return self.encoder._shortened(np.stack(vectors), channels,
                                       self.encoder._normalize)


class Scores(Served):
    """A cross-encoder of one score a pair."""
    task = "rerank"

    def __init__(self, name: str, folder: str, options: argparse.Namespace,
                 **choices: Any):
        self.encoder = CrossEncoder(folder, **choices)
        if self.encoder._labels != 1:
            raise InvalidArgument(f"a reranker gives one score a pair but "
                                  f"{folder} gives {self.encoder._labels}")
        super().__init__(name, self.encoder, options)

    def run(self, encodings: list[Encoding]) -> np.ndarray:
        """[pairs] float32."""
        return self.encoder._activation(
            self.encoder.logits_of(encodings, len(encodings)))[:, 0]


class Texts:
    """A decoder that continues texts and answers chats."""
    task = "completions"

    def __init__(self, name: str, package: Package, model: str,
                 options: argparse.Namespace):
        self.name, self.model = name, model
        self.tokenizer = tokens.read(tokens.file_of(model))
        self.context = self.longest = options.context
        read = lambda file: folders.read(os.path.join(model, file), {})
        config, own = read("config.json"), read("generation_config.json")
        end = own.get("eos_token_id", config.get("eos_token_id"))
        end = [] if end is None else [end] if isinstance(end, int) else end
        self.joiner = Writer(
            package.generation(context=options.context,
                               sequences=options.sequences,
                               threads=options.threads),
            options.sequences, end, options.queue)
        self.chat = ChatTemplate(name, model)

    def ids(self, prompt: str, chat: bool) -> list[int]:
        """A chat's template writes its special tokens itself."""
        return self.tokenizer.encode(prompt, add_special_tokens=not chat).ids

    def conversation(self, messages: list[dict[str, Any]]) -> str:
        """The prompt of a chat."""
        return self.chat.render(messages)


if TYPE_CHECKING:
    Model = Union[Served, Texts]


def open_model(name: str, folder: str, options: argparse.Namespace) -> Model:
    """What answers for a folder, by the class that its config.json names."""
    package, model = folders.find(folder, None, options.dtype, options.target)
    kind = kind_of(model)
    if kind.endswith(("ForCausalLM", "LMHeadModel")):
        return Texts(name, package, model, options)
    choices = {"dtype": options.dtype, "target": options.target,
               "threads": options.threads, "max_length": options.max_length}
    if kind.endswith("ForSequenceClassification"):
        return Scores(name, folder, options, **choices)
    return Vectors(name, folder, options, pooling=options.pooling, **choices)
