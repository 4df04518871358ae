"""Vectors of texts, as sentence-transformers makes them. The package gives one
vector a token; which of them count is written beside the model, not in it, so
that pooling and normalising are done here, one text at a time: the same bits
alone and in a batch."""
from __future__ import annotations

import os

import numpy as np

from . import folders, similarity
from .batches import Runner, checked
from .errors import InvalidArgument
from .similarity import normalized

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Sequence

    from .hints import Encoding, Path


def weighted(states: np.ndarray, first: int) -> np.ndarray:
    # float32 throughout, as torch does; a token's weight is its position.
    """[channels] of [tokens, channels]: the mean, weighted by places."""
    weights = np.arange(first + 1, first + len(states) + 1, dtype=np.float32)
    return (states * weights[:, None]).sum(axis=0) / weights.sum()


# By the name that 1_Pooling/config.json has: (states [tokens, channels], number
# of the first) -> [channels].
POOLINGS = {
    "cls": lambda states, first: states[0],
    "lasttoken": lambda states, first: states[-1],
    "max": lambda states, first: states.max(axis=0),
    "mean": lambda states, first: states.sum(axis=0) / np.float32(len(states)),
    "mean_sqrt_len_tokens": lambda states, first:
        states.sum(axis=0) / np.sqrt(np.float32(len(states))),
    "weightedmean": weighted,
}
OLD_KEYS = {"pooling_mode_cls_token": "cls",
            "pooling_mode_max_tokens": "max",
            "pooling_mode_mean_tokens": "mean",
            "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
            "pooling_mode_weightedmean_tokens": "weightedmean",
            "pooling_mode_lasttoken": "lasttoken"}


def poolings(config: dict[str, Any], where: str) -> list[str]:
    """Names of the poolings whose vectors are joined."""
    modes = config.get("pooling_mode")
    if modes is None:
        modes = [mode for key, mode in OLD_KEYS.items() if config.get(key)]
    modes = [modes] if isinstance(modes, str) else list(modes)
    for mode in modes:
        if mode not in POOLINGS:
            raise InvalidArgument(f"{where} has the pooling {mode!r} but must "
                                  f"have one of {', '.join(POOLINGS)}")
    if not modes:
        raise InvalidArgument(f"{where} names no pooling")
    return modes


def joined(pooled: np.ndarray,
           windows: Sequence[Sequence[Encoding]]) -> np.ndarray:
    """[texts, channels] of [windows, channels], and the windows of each text:
    the bits of its own where there is one."""
    vectors = np.zeros((len(windows), pooled.shape[1]), np.float32)
    at = 0
    for number, of in enumerate(windows):
        own = pooled[at:at + len(of)]
        at += len(of)
        vectors[number] = own[0] if len(of) == 1 else np.average(
            own, axis=0, weights=[len(one.ids) for one in of])
    return vectors


class Encoder:
    """Vectors of texts.

    folder      a package, or a sentence-transformers folder, which is compiled
                once (see `mille.compile` for dtype and target)
    model_dir   of a package: the model's folder, if it was moved
    pooling     a name or names of POOLINGS; default: the folder's
    max_length  tokens that a text is cut at; default: the folder's
    truncate_dim        numbers of a vector that are kept; default: all
    similarity_fn_name  "cosine", "dot", "euclidean" or "manhattan"; default:
                the folder's, or cosine
    """

    def __init__(self, folder: Path, model_dir: Path | None = None, *,
                 dtype: str = "f32", target: str | None = None,
                 threads: int = 0, pooling: str | Sequence[str] | None = None,
                 max_length: int | None = None,
                 truncate_dim: int | None = None,
                 similarity_fn_name: str | None = None):
        package, self.model_dir = folders.find(folder, model_dir, dtype, target)
        weights = folders.transformer(self.model_dir)
        self._read_modules(pooling)
        config = folders.read(os.path.join(
            self.model_dir, "config_sentence_transformers.json"), {})
        self.prompts = config.get("prompts") or {}
        self.default_prompt_name = config.get("default_prompt_name")
        self.truncate_dim = similarity.check_channels(truncate_dim)
        self.similarity_fn_name = similarity.check_name(
            similarity_fn_name or config.get("similarity_fn_name") or "cosine")
        own = folders.read(os.path.join(weights, "sentence_bert_config.json"),
                           {})
        self._lower = own.get("do_lower_case", False)
        self._runner = Runner(package, weights,
                              max_length or own.get("max_seq_length"), threads)
        self._channels = self._runner.wants("last_hidden_state", 3,
                                            "an encoder")[2]

    def _read_modules(self, pooling):
        self._include_prompt, self._normalize = True, False
        self._poolings = poolings({"pooling_mode": pooling}, "the call") \
            if pooling else None
        list_of = os.path.join(self.model_dir, "modules.json")
        for module in folders.read(list_of, []):
            kind = module["type"].rsplit(".", 1)[-1]
            if kind == "Pooling":
                path = os.path.join(self.model_dir, module["path"],
                                    "config.json")
                config = folders.read(path, {})
                self._poolings = self._poolings or poolings(config, path)
                self._include_prompt = config.get("include_prompt", True)
            elif kind == "Normalize":
                self._normalize = True
            elif kind != "Transformer":
                raise InvalidArgument(
                    f"{list_of} has the module {kind} but Transformer, Pooling "
                    "and Normalize are known")
        if not self._poolings:
            raise InvalidArgument(f"{self.model_dir} has no modules.json with "
                                  "a Pooling: give pooling='mean' or another")

    @property
    def max_seq_length(self) -> int:
        """Tokens that a text is cut at."""
        return self._runner.max_length

    def get_embedding_dimension(self) -> int:
        """Numbers of a vector that `encode` gives."""
        return min(self._width, self.truncate_dim or self._width)

    def get_sentence_embedding_dimension(self) -> int:
        """The same: the name before sentence-transformers 5.3."""
        return self.get_embedding_dimension()

    @property
    def _width(self) -> int:
        return self._channels * len(self._poolings)

    def _prompt(self, prompt, name):
        if prompt is not None:
            return prompt
        for name in (name, self.default_prompt_name):
            if not name:
                continue
            if name not in self.prompts:
                raise InvalidArgument(f"there is no prompt {name!r} but "
                                      f"{sorted(self.prompts)}")
            if self.prompts[name] is not None:  # else it is a name alone
                return self.prompts[name]
        return ""

    def _skipped(self, prompt):
        """Tokens of the prompt that pooling leaves out."""
        if self._include_prompt or not prompt:
            return 0
        one = self._runner.tokenizer.whole.encode(prompt)
        return len(one.ids) - (one.special_tokens_mask[-1] if one.ids else 0)

    def _pooled(self, encodings, skipped, batch_size, progress):
        """[encodings, channels] float32."""
        vectors = np.zeros((len(encodings), self._width), np.float32)
        for numbers, chosen, outputs in self._runner.batches(
                encodings, batch_size, progress):
            states = outputs["last_hidden_state"]
            for row, (number, one) in enumerate(zip(numbers, chosen)):
                # A text that is cut inside its prompt has its last token.
                first = min(skipped, len(one.ids) - 1)
                own = states[row, first:len(one.ids)]
                vectors[number] = np.concatenate(
                    [POOLINGS[mode](own, first) for mode in self._poolings])
        return vectors

    def _finished(self, vectors, channels, normalize):
        """Normalised and cut as the folder and the call say."""
        if self._normalize:
            vectors = normalized(vectors)
        return self._shortened(vectors, self.truncate_dim if channels is None
                               else channels, normalize)

    def _shortened(self, vectors, channels, normalize):
        """The first numbers of what the folder's modules give, or all."""
        cut = similarity.cut(vectors, channels)
        again = not self._normalize or cut.shape != vectors.shape
        return normalized(cut) if normalize and again else cut

    def encode_query(self, sentences: str | Iterable[str],
                     prompt_name: str | None = None,
                     prompt: str | None = None, *more: Any,
                     **options: Any) -> Any:
        """`encode` of what is searched for, with its arguments: with the
        folder's prompt "query", if it has one and no other is given."""
        return self.encode(sentences, self._named(
            ("query",), prompt_name, prompt), prompt, *more, **options)

    def encode_document(self, sentences: str | Iterable[str],
                        prompt_name: str | None = None,
                        prompt: str | None = None, *more: Any,
                        **options: Any) -> Any:
        """`encode` of what is searched in, with its arguments: with the
        folder's prompt "document", "passage" or "corpus", the first that it
        has, if no other is given."""
        return self.encode(sentences, self._named(
            ("document", "passage", "corpus"), prompt_name, prompt), prompt,
            *more, **options)

    def _named(self, names, prompt_name, prompt):
        """The name of a prompt: what is given, or the first that there is."""
        if prompt_name is not None or prompt is not None:
            return prompt_name
        return next((one for one in names if one in self.prompts), None)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """[first, second] float32: how alike each of the first vectors
        [first, channels] and each of the second [second, channels] are, by
        similarity_fn_name; a distance is negative. Arrays, tensors of torch, or
        lists of vectors; a tensor where one of them is, else an array.
        InvalidArgument: they have not as many channels."""
        return similarity.each_with_each(
            similarity.check_name(self.similarity_fn_name), embeddings1,
            embeddings2)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """[pairs] float32: the same of the vectors at the same place of
        [pairs, channels] and [pairs, channels]. InvalidArgument: they are not
        as many, or have not as many channels."""
        return similarity.pair_by_pair(
            similarity.check_name(self.similarity_fn_name), embeddings1,
            embeddings2)

    def prepared(self, texts: list[str], prompt: str) -> list[str]:
        """The texts that the tokenizer is given."""
        texts = [prompt + text for text in texts]
        return [text.lower() for text in texts] if self._lower else texts

    def encode(self, sentences: str | Iterable[str],
               prompt_name: str | None = None, prompt: str | None = None,
               batch_size: int = 32, show_progress_bar: bool | None = None,
               output_value: str = "sentence_embedding",
               precision: str = "float32", convert_to_numpy: bool = True,
               convert_to_tensor: bool = False, device: str | None = None,
               normalize_embeddings: bool = False,
               truncate_dim: int | None = None, *,
               stride: int | None = None) -> Any:
        """[texts, channels] float32, in the order of `sentences`; [channels]
        for one string. The arguments and their places are those of
        sentence-transformers, without processes.

        `prompt`, or the folder's prompt of this name, goes before each text. A
        text that has no token has the vector 0. output_value: as it is; vectors
        of tokens are a session's last_hidden_state. precision: "binary" (int8)
        or "ubinary" (uint8) gives [texts, channels / 8], a bit for each number,
        whether it is above 0. A list of vectors if not convert_to_numpy; a
        tensor of torch with convert_to_tensor. device: None or "cpu".
        truncate_dim: only the first numbers, of a vector that the folder's
        modules have normalised; normalize_embeddings gives them the length 1
        again. stride: a text that is longer than max_seq_length is not cut but
        runs in windows, each of which begins with the prompt and repeats this
        many tokens of the one before; its vector is the mean of theirs,
        weighted by their tokens. InvalidArgument: a text is no string, or an
        option has no such value."""
        similarity.check_precision(precision)
        for name, value, known in (
                ("output_value", output_value, ("sentence_embedding",)),
                ("device", device, (None, "cpu"))):
            if value not in known:
                raise InvalidArgument(f"{name} is {value!r} but must be "
                                      f"{known[-1]!r}")
        single = isinstance(sentences, str)
        texts = checked([sentences] if single else sentences)
        prompt = self._prompt(prompt, prompt_name)
        texts = self.prepared(texts, prompt)
        windows: list[Sequence[Encoding]]
        if stride is None:
            windows = [[one] for one in
                       self._runner.tokenizer.encode_batch(texts)]
        else:
            windows = [*self._runner.all_windows(texts, stride, len(prompt))]
        pooled = self._pooled([one for of in windows for one in of],
                              self._skipped(prompt), batch_size,
                              bool(show_progress_bar))
        vectors = joined(pooled, windows)
        vectors = self._finished(vectors, truncate_dim, normalize_embeddings)
        vectors = similarity.PRECISIONS[precision](vectors)
        vectors = vectors[0] if single else vectors
        if convert_to_tensor:
            import torch
            return torch.from_numpy(vectors)
        if single:
            return vectors
        return vectors if convert_to_numpy else list(vectors)
