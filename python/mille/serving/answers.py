"""Texts as they come out of the writer's thread, and what is said of their
tokens. Must not know what HTTP is."""
from __future__ import annotations

import asyncio

from .prose import Prose
from .writer import Line, Token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AsyncGenerator, AsyncIterator

    from .models import Texts

LEAST = -9999.0  # OpenAI's number for a probability of 0, which JSON can hold


class Answer:
    """One text of a request. likeliest: how many ids each of its tokens is
    beside, with their probabilities; None: none, and not its own either."""

    def __init__(self, model: Texts, ids: list[int], most: int,
                 sampling: dict[str, Any], stops: list[str],
                 likeliest: int | None = None, index: int = 0):
        self.index, self.tokenizer = index, model.tokenizer
        self.prose = Prose(model.tokenizer, ids, stops)
        self.prompt, self.tokens = len(ids), 0
        self.reason: str | None = None
        self._fresh: list[Token] = []
        self._offset = 0
        self.loop = asyncio.get_running_loop()
        self.said: asyncio.Queue[Any] = asyncio.Queue()
        self.line = Line(ids, most, sampling, self._say, likeliest)

    def _say(self, what):
        try:
            self.loop.call_soon_threadsafe(self.said.put_nowait, what)
        except RuntimeError:
            pass  # the loop has ended

    async def parts(self) -> AsyncIterator[str]:
        """Yields texts; self.reason says why it ended."""
        try:
            while True:
                what = await self.said.get()
                if isinstance(what, Exception):
                    raise what
                if isinstance(what, str):
                    if rest := self.prose.rest():
                        yield rest
                    self.reason = "stop" if self.prose.stopped else what
                    return
                self.tokens += 1
                if isinstance(what, Token):
                    self._fresh.append(what)
                    what = what.id
                if text := self.prose.add(what):
                    yield text
                if self.prose.stopped:
                    self.reason = "stop"
                    return
        finally:
            self.line.gone = True

    def fresh(self) -> list[Token]:
        """The tokens since the last call, if they have probabilities."""
        taken, self._fresh = self._fresh, []
        return taken

    def spelled(self, id: int) -> str:
        """The text of one token; of a part of a letter it is U+FFFD."""
        return self.tokenizer.decode([id], skip_special_tokens=False)

    def of_completion(self, tokens: list[Token]) -> dict[str, Any] | None:
        """"logprobs" of /v1/completions. Offsets are letters of the text."""
        if self.line.likeliest is None:
            return None
        words = [self.spelled(token.id) for token in tokens]
        offsets = []
        for word in words:
            offsets.append(self._offset)
            self._offset += len(word)
        return {"tokens": words, "text_offset": offsets,
                "token_logprobs": [max(token.logprob, LEAST)
                                   for token in tokens],
                "top_logprobs": [{self.spelled(id): max(logprob, LEAST)
                                  for id, logprob in token.likeliest}
                                 for token in tokens]
                if self.line.likeliest else None}

    def of_chat(self, tokens: list[Token]) -> dict[str, Any] | None:
        """"logprobs" of /v1/chat/completions."""
        if self.line.likeliest is None:
            return None

        def said(id, logprob):
            word = self.spelled(id)
            return {"token": word, "logprob": max(logprob, LEAST),
                    "bytes": None if "\ufffd" in word else list(word.encode())}
        return {"refusal": None, "content": [
            {**said(token.id, token.logprob),
             "top_logprobs": [said(*one) for one in token.likeliest]}
            for token in tokens]}


def usage(answers: list[Answer], n: int) -> dict[str, int]:
    """Tokens of the prompts, each counted once for its n texts, and of the
    texts."""
    prompts = sum(answer.prompt for answer in answers[::n])
    texts = sum(answer.tokens for answer in answers)
    return {"prompt_tokens": prompts, "completion_tokens": texts,
            "total_tokens": prompts + texts}


async def merged(answers: list[Answer]) -> AsyncGenerator[
        tuple[Answer, str | None, list[Token]], None]:
    """Yields (answer, text, its tokens) as they come, and None for a text at
    the end of each answer."""
    came: asyncio.Queue[Any] = asyncio.Queue()

    async def pump(answer):
        try:
            async for text in answer.parts():
                came.put_nowait((answer, text, answer.fresh()))
            came.put_nowait((answer, None, answer.fresh()))
        except Exception as error:
            came.put_nowait((answer, error, []))
    tasks = [asyncio.ensure_future(pump(answer)) for answer in answers]
    try:
        left = len(answers)
        while left:
            answer, text, tokens = await came.get()
            if isinstance(text, Exception):
                raise text
            left -= text is None
            yield answer, text, tokens
    finally:
        for task in tasks:
            task.cancel()
