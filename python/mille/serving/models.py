"""What a folder answers to: vectors of texts, or scores of pairs. Must not know
what HTTP is."""
from .. import folders
from ..classifier import CrossEncoder
from ..encoder import Encoder, normalized
from ..errors import InvalidArgument
from .joiner import Joiner


def is_cross_encoder(model):
    config = folders.read(folders.transformer(model) / "config.json", {})
    kinds = config.get("architectures") or [""]
    return kinds[0].endswith("ForSequenceClassification")


class Served:
    """One model, and the queue of its thread."""

    def __init__(self, name, made, options):
        self.name = name
        self.runner = made._runner
        self.runner.reserve(options.batch, self.runner.max_length)
        self.joiner = Joiner(self.run, options.batch, options.wait / 1000,
                             options.queue)

    def tokens(self, texts):
        """The encodings of texts, or of pairs of them."""
        return self.runner.tokenizer.encode_batch(texts)


class Vectors(Served):
    task = "embeddings"

    def __init__(self, name, folder, options, **choices):
        self.encoder = Encoder(folder, **choices)
        self.width = self.encoder.get_sentence_embedding_dimension()
        self.prompt = self.encoder._prompt(None, None)
        self.skipped = self.encoder._skipped(self.prompt)
        super().__init__(name, self.encoder, options)

    def tokens(self, texts):
        return super().tokens(self.encoder.prepared(texts, self.prompt))

    def run(self, encodings):
        vectors = self.encoder._pooled(encodings, self.skipped,
                                       len(encodings), False)
        return normalized(vectors) if self.encoder._normalize else vectors


class Scores(Served):
    task = "rerank"

    def __init__(self, name, folder, options, **choices):
        self.encoder = CrossEncoder(folder, **choices)
        if self.encoder._labels != 1:
            raise InvalidArgument(f"a reranker gives one score a pair but "
                                  f"{folder} gives {self.encoder._labels}")
        super().__init__(name, self.encoder, options)

    def run(self, encodings):
        return self.encoder._activation(
            self.encoder.logits_of(encodings, len(encodings)))[:, 0]


def open_model(name, folder, options):
    _, model = folders.find(folder, None, options.dtype, options.target)
    choices = {"dtype": options.dtype, "target": options.target,
               "threads": options.threads, "max_length": options.max_length}
    if is_cross_encoder(model):
        return Scores(name, folder, options, **choices)
    return Vectors(name, folder, options, pooling=options.pooling, **choices)
