"""Classes of tokens, as transformers' pipeline "token-classification" gives
them: its words, its strategies, its order. Must not run anything but texts."""
from __future__ import annotations

import numpy as np

from .batches import checked
from .classifier import Logits, softmax
from .errors import InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Sequence

    from .hints import Path, PlacedEncoding

STRATEGIES = ("none", "simple", "first", "average", "max")


def tag(label: str) -> tuple[str, str]:
    """("B" or "I", class) of "B-PER", "I-PER" or "PER"."""
    return (label[0], label[2:]) if label[:2] in ("B-", "I-") else ("I", label)


def without_overlaps(entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of entities that windows share, the longest, and then the likeliest."""
    kept: list[dict[str, Any]] = []
    for entity in sorted(entities, key=lambda one: one["start"]):
        if not kept or not (kept[-1]["start"] <= entity["start"]
                            < kept[-1]["end"]):
            kept.append(entity)
            continue
        size = lambda one: (one["end"] - one["start"], one["score"])
        if size(entity) > size(kept[-1]):
            kept[-1] = entity
    return kept


class TokenClassifier(Logits):
    """Classes of tokens and of words of texts. The arguments are those of
    Encoder."""
    _dimensions, _purpose = 3, "a classifier of tokens"

    def __init__(self, folder: Path, model_dir: Path | None = None,
                 **options: Any):
        super().__init__(folder, model_dir, **options)
        # Offsets are needed, which only this one has.
        self._tokenizer = tokenizer = self._runner.tokenizer.whole
        self._prefix = getattr(tokenizer.model, "continuing_subword_prefix",
                               None)
        # A token of its own, so that "unknown" is no part of a word.
        name = getattr(tokenizer.model, "unk_token", None)
        self._unknown = tokenizer.token_to_id(name) if name else None

    def __call__(self, texts: str | Iterable[str],
                 aggregation_strategy: str = "none",
                 ignore_labels: Sequence[str] = ("O",),
                 stride: int | None = None, batch_size: int = 32) -> list[Any]:
        """Of each text [{entity, score, index, word, start, end}], a token
        each; with another strategy [{entity_group, score, word, start, end}],
        whose class is of the group's tokens (simple), or of words by their
        first token (first), by the mean (average) or by the surest (max).
        stride: long texts run in windows that share this many tokens; without,
        they are cut at max_length."""
        single = isinstance(texts, str)
        texts = checked([texts] if single else texts)
        strategy = aggregation_strategy
        if strategy not in STRATEGIES:
            raise InvalidArgument(f"aggregation_strategy is {strategy!r} but "
                                  f"must be one of {', '.join(STRATEGIES)}")
        if stride is None:
            windows: list[Sequence[PlacedEncoding]] = [
                [one] for one in self._tokenizer.encode_batch(texts)]
        elif strategy == "none":
            raise InvalidArgument("stride needs an aggregation_strategy that "
                                  "is not 'none'")
        else:
            windows = self._runner.all_windows(texts, stride)
        flat = [(number, one) for number, of in enumerate(windows)
                for one in of]
        answers: list[list[dict[str, Any]]] = [[] for _ in flat]
        for numbers, chosen, outputs in self._runner.batches(
                [one for _, one in flat], batch_size):
            for row, (number, one) in enumerate(zip(numbers, chosen)):
                scores = softmax(outputs["logits"][row, :len(one.ids)])
                answers[number] = self._entities(
                    texts[flat[number][0]], one, scores, strategy)
        whole: list[list[dict[str, Any]]] = [[] for _ in texts]
        for (number, _), entities in zip(flat, answers):
            whole[number] += [
                one for one in entities
                if one.get("entity", one.get("entity_group"))
                not in ignore_labels]
        whole = [without_overlaps(entities) if len(of) > 1 else entities
                 for entities, of in zip(whole, windows)]
        return whole[0] if single else whole

    def _tokens(self, text, encoding, scores):
        """What is known of each token of the text itself."""
        tokens = []
        for index, (id, (start, end), added) in enumerate(
                zip(encoding.ids, encoding.offsets,
                    encoding.special_tokens_mask)):
            if added:
                continue
            word = self._tokenizer.id_to_token(id)
            said = text[start:end]
            if self._prefix:
                inside = len(word) != len(said)
            else:
                inside = start > 0 and " " not in text[start - 1:start + 1]
            if id == self._unknown:
                word, inside = said, False
            tokens.append({"word": word, "scores": scores[index],
                           "index": index, "start": start, "end": end,
                           "inside": inside})
        return tokens

    def _named(self, scores):
        best = int(scores.argmax())
        return {"entity": self.id2label[best], "score": float(scores[best])}

    def _spelled(self, words):
        decoder = self._tokenizer.decoder
        return decoder.decode(words) if decoder else " ".join(words)

    def _entities(self, text, encoding, scores, strategy):
        tokens = self._tokens(text, encoding, scores)
        if strategy in ("none", "simple"):
            entities = [{**self._named(one["scores"]), "index": one["index"],
                         "word": one["word"], "start": one["start"],
                         "end": one["end"]} for one in tokens]
        else:
            words = []
            for token in tokens:
                if words and token["inside"]:
                    words[-1].append(token)
                else:
                    words.append([token])
            entities = [self._word(word, strategy) for word in words]
        return entities if strategy == "none" else self._groups(entities)

    def _word(self, tokens, strategy):
        if strategy == "first":
            scores = tokens[0]["scores"]
        elif strategy == "max":
            scores = max((one["scores"] for one in tokens),
                         key=lambda row: row.max())
        else:
            scores = np.mean([one["scores"] for one in tokens], axis=0)
        return {**self._named(scores),
                "word": self._spelled([one["word"] for one in tokens]),
                "start": tokens[0]["start"], "end": tokens[-1]["end"]}

    def _groups(self, entities):
        """Neighbours of one class as one, unless a "B-" begins another."""
        groups = []
        for entity in entities:
            begins, kind = tag(entity["entity"])
            if groups and begins != "B" and \
                    kind == tag(groups[-1][-1]["entity"])[1]:
                groups[-1].append(entity)
            else:
                groups.append([entity])
        return [{"entity_group": of[0]["entity"].split("-", 1)[-1],
                 "score": float(np.mean([one["score"] for one in of])),
                 "word": self._spelled([one["word"] for one in of]),
                 "start": of[0]["start"], "end": of[-1]["end"]}
                for of in groups]
