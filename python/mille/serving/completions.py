"""/v1/completions and /v1/chat/completions, as OpenAI has them, of one text a
request."""
from __future__ import annotations

import asyncio
import json
import os
import time

from starlette.responses import JSONResponse, StreamingResponse

from .prose import Prose
from .refusals import GONE, Refused, body_of, texts_of
from .writer import Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from .app import Application
    from .models import Texts

# Options of the request that go to mille_sampling: (what it is, default).
NUMBERS = {"temperature": 1.0, "top_p": 1.0, "min_p": 0.0,
           "presence_penalty": 0.0, "frequency_penalty": 0.0,
           "repetition_penalty": 1.0}
REFUSED = ("logprobs", "top_logprobs", "echo", "suffix", "tools", "functions",
           "response_format")


def whole(body: dict[str, Any], key: str, default: Any, least: int) -> Any:
    """The whole number of a request under `key`, or `default`. Refused: 400."""
    value = body.get(key)
    if value is None:
        return default
    if type(value) is not int or value < least:
        raise Refused(400, f"{key} is {value!r} but must be a whole number "
                      f"from {least}")
    return value


def bias_of(given: Any) -> dict[int, float]:
    """{id: what is added to its logit}; JSON's keys are texts."""
    try:
        if any(type(value) not in (int, float) for value in given.values()):
            raise ValueError
        return {int(id): float(value) for id, value in given.items()}
    except (AttributeError, ValueError) as error:
        raise Refused(400, f"logit_bias is {given!r} but must map ids to "
                      "numbers") from error


def sampling_of(body: dict[str, Any]) -> dict[str, Any]:
    """The options of Generation.sample that a request gives. Refused: 400."""
    for key in REFUSED:
        if body.get(key):
            raise Refused(400, f"{key} is not known to this server")
    if body.get("n") not in (None, 1):
        raise Refused(400, f"n is {body['n']!r} but must be 1")
    found = {"top_k": whole(body, "top_k", 0, 0),
             "seed": whole(body, "seed", int.from_bytes(os.urandom(6), "big"),
                           0)}
    for key, default in NUMBERS.items():
        value = default if body.get(key) is None else body[key]
        if type(value) not in (int, float):
            raise Refused(400, f"{key} is {value!r} but must be a number")
        found[key] = float(value)
    bias = body.get("logit_bias")
    if bias:
        found["bias"] = bias_of(bias)
    return found


def stops_of(body: dict[str, Any]) -> list[str]:
    """The texts at which an answer ends. Refused: 400."""
    value = body.get("stop")
    if value is None or value == []:
        return []
    stops = texts_of(value, "stop", 16)
    if "" in stops:
        raise Refused(400, "stop must not be an empty text")
    return stops


def content_of(given: object) -> str | None:
    """The text of a message, which may come in parts; None: it is none."""
    if isinstance(given, str):
        return given
    if not isinstance(given, list) or not given:
        return None
    texts = [part.get("text") for part in given
             if isinstance(part, dict) and part.get("type") == "text"]
    whole = len(texts) == len(given) and all(isinstance(one, str)
                                             for one in texts)
    return "".join(texts) if whole else None


def messages_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a chat, each content one text. Refused: 400."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refused(400, "messages must be a list of messages")
    found = []
    for i, one in enumerate(messages):
        content = content_of(one.get("content")) \
            if isinstance(one, dict) else None
        if content is None or not isinstance(one.get("role"), str):
            raise Refused(400, f"message number {i} must have a role and a "
                          "content, which are texts")
        texts_of(content, "content", 1)
        found.append({**one, "content": content})
    return found


class Answer:
    """One text, as it comes out of the writer's thread."""

    def __init__(self, model: Texts, ids: list[int], most: int,
                 sampling: dict[str, Any], stops: list[str]):
        self.prose = Prose(model.tokenizer, ids, stops)
        self.prompt, self.tokens, self.reason = len(ids), 0, None
        self.loop, self.said = asyncio.get_running_loop(), asyncio.Queue()
        self.line = Line(ids, most, sampling, self._say)

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
                if text := self.prose.add(what):
                    yield text
                if self.prose.stopped:
                    self.reason = "stop"
                    return
        finally:
            self.line.gone = True

    def usage(self) -> dict[str, int]:
        """Tokens of the prompt and of the text."""
        return {"prompt_tokens": self.prompt, "completion_tokens": self.tokens,
                "total_tokens": self.prompt + self.tokens}


class Form:
    """The JSON of an answer: of a completion, or of a chat."""

    def __init__(self, chat: bool, model: str):
        self.chat = chat
        self.head = {"id": ("chatcmpl-" if chat else "cmpl-")
                     + os.urandom(12).hex(),
                     "created": int(time.time()), "model": model}

    def whole(self, text: str, answer: Answer) -> dict[str, Any]:
        """The JSON of an answer that is done."""
        body = {"message": {"role": "assistant", "content": text}} \
            if self.chat else {"text": text}
        return {**self.head,
                "object": "chat.completion" if self.chat else "text_completion",
                "choices": [{"index": 0, **body, "logprobs": None,
                             "finish_reason": answer.reason}],
                "usage": answer.usage()}

    def part(self, text: str | None, reason: str | None = None,
             usage: dict[str, int] | None = None) -> str:
        """An event of a stream: a part of the text, its end, or the usage."""
        delta = {} if text is None else {"content": text}
        body = {"delta": delta} if self.chat else {"text": text or ""}
        made = {**self.head, "object": "chat.completion.chunk" if self.chat
                else "text_completion", "choices": [
                    {"index": 0, **body, "finish_reason": reason}]}
        if usage:
            made.update(choices=[], usage=usage)
        return f"data: {json.dumps(made)}\n\n"


class Completions:
    """The two routes. `owner` is the Application."""

    def __init__(self, owner: Application):
        self.owner, self.options = owner, owner.options

    async def completions(self, request: Request) -> Response:
        """/v1/completions."""
        return await self.answer(request, chat=False)

    async def chat(self, request: Request) -> Response:
        """/v1/chat/completions."""
        return await self.answer(request, chat=True)

    async def answer(self, request: Request, chat: bool) -> Response:
        """The text that follows a prompt or a chat, whole or as a stream.
        Refused: 400, 429, 499, 503, 504."""
        body = await body_of(request, self.options)
        model = self.owner.model(body.get("model"), "completions")
        if chat:
            prompt = model.conversation(messages_of(body))
        else:
            prompt, = texts_of(body.get("prompt"), "prompt", 1)
        ids = await asyncio.to_thread(model.ids, prompt, chat)
        room = model.context - len(ids)
        if not ids or room < 1:
            raise Refused(400, f"the prompt has {len(ids)} tokens but may have "
                          f"1 to {model.context - 1}")
        most = whole(body, "max_completion_tokens", None, 1) or whole(
            body, "max_tokens", room if chat else 16, 1)
        if most > room:
            raise Refused(400, f"the prompt has {len(ids)} tokens and {most} "
                          f"more are asked for, but the model holds "
                          f"{model.context}")
        answer = Answer(model, ids, most, sampling_of(body), stops_of(body))
        request.state.facts = f"{model.name} prompt={len(ids)}"
        self.owner.submit(model, answer.line)
        form = Form(chat, model.name)
        if body.get("stream"):
            wants = (body.get("stream_options") or {}).get("include_usage")
            request.state.streams = True
            return StreamingResponse(
                self.stream(request, model, answer, form, wants),
                media_type="text/event-stream",
                headers={"Cache-Control": "no-store"})
        text = await self.whole(request, answer)
        self.count(request, model, answer)
        return JSONResponse(form.whole(text, answer))

    def count(self, request: Request, model: Texts, answer: Answer) -> None:
        """Counts the tokens of an answer that is over."""
        request.state.facts += f" tokens={answer.tokens}"
        self.owner.metrics.tokens.labels(model.name).inc(
            answer.prompt + answer.tokens)

    async def whole(self, request: Request, answer: Answer) -> str:
        """The whole text, within the timeout. Refused: 499, 504."""
        async def collect():
            return "".join([part async for part in answer.parts()])
        found = asyncio.ensure_future(collect())
        gone = asyncio.ensure_future(request.receive())
        await asyncio.wait({found, gone}, timeout=self.options.timeout,
                           return_when=asyncio.FIRST_COMPLETED)
        if found.done():
            gone.cancel()
            return found.result()
        answer.line.gone = True
        found.cancel()
        if gone.done():
            raise Refused(GONE, "the client is gone")
        gone.cancel()
        raise Refused(504, "there is no answer after "
                      f"{self.options.timeout:g} s")

    async def stream(self, request: Request, model: Texts, answer: Answer,
                     form: Form, wants_usage: bool) -> AsyncIterator[str]:
        """The events of a stream; the log has its line at the end."""
        begin, status = time.perf_counter(), GONE
        try:
            async for text in answer.parts():
                yield form.part(text)
            yield form.part(None, reason=answer.reason)
            if wants_usage:
                yield form.part(None, usage=answer.usage())
            yield "data: [DONE]\n\n"
            status = 200
        except Exception as error:  # the head is sent: the stream says it
            status = 500
            yield "data: " + json.dumps({"error": {
                "message": str(error), "type": "server_error", "param": None,
                "code": 500}}) + "\n\n"
        finally:
            answer.line.gone = True
            self.count(request, model, answer)
            self.owner.note(request, status, time.perf_counter() - begin)
