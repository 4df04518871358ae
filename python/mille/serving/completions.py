"""/v1/completions and /v1/chat/completions, as OpenAI has them."""
from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time

from starlette.responses import JSONResponse, StreamingResponse

from .answers import Answer, merged, usage
from .refusals import GONE, Refused, body_of, inputs_of, texts_of, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from .app import Application
    from .models import Texts
    from .writer import Token

# Options of the request that go to mille_sampling: (what it is, default).
NUMBERS = {"temperature": 1.0, "top_p": 1.0, "min_p": 0.0,
           "presence_penalty": 0.0, "frequency_penalty": 0.0,
           "repetition_penalty": 1.0}
REFUSED = ("echo", "suffix", "tools", "functions", "response_format")
LIKELIEST = 20  # ids beside a token, at most, as OpenAI has it for chats


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


def likeliest_of(body: dict[str, Any], chat: bool) -> int | None:
    """How many ids each token is said beside, with their probabilities; None:
    no probabilities. Refused: 400."""
    asked = body.get("logprobs")
    if asked is None or asked is False:
        if body.get("top_logprobs"):
            raise Refused(400, "top_logprobs needs logprobs")
        return None
    if not chat:
        return whole(body, "logprobs", 0, 0, LIKELIEST)
    if asked is not True:
        raise Refused(400, f"logprobs is {asked!r} but must be true or false")
    return whole(body, "top_logprobs", 0, 0, LIKELIEST)


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
    texts = []
    for part in given:
        if not isinstance(part, dict) or part.get("type") != "text" or \
                not isinstance(part.get("text"), str):
            return None
        texts.append(part["text"])
    return "".join(texts)


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


class Form:
    """The JSON of an answer: of a completion, or of a chat."""

    def __init__(self, chat: bool, model: str):
        self.chat = chat
        self.head = {"id": ("chatcmpl-" if chat else "cmpl-")
                     + os.urandom(12).hex(),
                     "created": int(time.time()), "model": model}

    def _logprobs(self, answer, tokens):
        return answer.of_chat(tokens) if self.chat \
            else answer.of_completion(tokens)

    def whole(self, texts: list[str], answers: list[Answer],
              n: int) -> dict[str, Any]:
        """The JSON of answers that are done, n for each prompt."""
        return {**self.head,
                "object": "chat.completion" if self.chat else "text_completion",
                "choices": [{
                    "index": answer.index,
                    **({"message": {"role": "assistant", "content": text}}
                       if self.chat else {"text": text}),
                    "logprobs": self._logprobs(answer, answer.fresh()),
                    "finish_reason": answer.reason}
                    for text, answer in zip(texts, answers)],
                "usage": usage(answers, n)}

    def part(self, answer: Answer, text: str | None,
             tokens: list[Token]) -> str:
        """An event of a stream: a part of a text, or its end (None)."""
        body = {"delta": {} if text is None else {"content": text}} \
            if self.chat else {"text": text or ""}
        return self._event([{
            "index": answer.index, **body,
            "logprobs": self._logprobs(answer, tokens) if tokens else None,
            "finish_reason": answer.reason if text is None else None}])

    def end(self, answers: list[Answer], n: int) -> str:
        """The event of a stream that has the usage."""
        return self._event([], usage=usage(answers, n))

    def _event(self, choices, **more):
        made = {**self.head, "object": "chat.completion.chunk" if self.chat
                else "text_completion", "choices": choices, **more}
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

    async def _prompts(self, model, body, chat):
        """The ids of each prompt."""
        if chat:
            prompts = [model.conversation(messages_of(body))]
        else:
            prompts = inputs_of(body.get("prompt"), "prompt",
                                self.options.max_texts)
        return [one if isinstance(one, list)
                else await asyncio.to_thread(model.ids, one, chat)
                for one in prompts]

    def _answers(self, model, body, chat, prompts, n):
        """What is asked for: n texts for each prompt, whose seeds follow each
        other."""
        sampling, stops = sampling_of(body), stops_of(body)
        likeliest = likeliest_of(body, chat)
        answers = []
        for ids in prompts:
            room = model.context - len(ids)
            if not ids or room < 1:
                raise Refused(400, f"the prompt has {len(ids)} tokens but may "
                              f"have 1 to {model.context - 1}")
            most = whole(body, "max_completion_tokens", None, 1) or whole(
                body, "max_tokens", room if chat else 16, 1)
            if most > room:
                raise Refused(400, f"the prompt has {len(ids)} tokens and "
                              f"{most} more are asked for, but the model "
                              f"holds {model.context}")
            answers += [
                Answer(model, ids, most,
                       {**sampling, "seed": sampling["seed"] + i}, stops,
                       likeliest, len(answers) + i) for i in range(n)]
        return answers

    async def answer(self, request: Request, chat: bool) -> Response:
        """The texts that follow prompts or a chat, whole or as a stream.
        Refused: 400, 413, 429, 499, 503, 504."""
        body = await body_of(request, self.options)
        model = self.owner.model(body.get("model"), "completions")
        prompts, n = await self._prompts(model, body, chat), whole(
            body, "n", 1, 1)
        if body.get("best_of") not in (None, n):
            raise Refused(400, f"best_of is {body['best_of']!r} but must be n, "
                          f"{n}")
        if len(prompts) * n > self.options.max_texts:
            raise Refused(413, f"{len(prompts)} prompts and n = {n} are "
                          f"{len(prompts) * n} texts but a request may have "
                          f"{self.options.max_texts}")
        answers = self._answers(model, body, chat, prompts, n)
        request.state.facts = \
            f"{model.name} prompt={sum(len(ids) for ids in prompts)}"
        try:
            for answer in answers:
                self.owner.submit(model, answer.line, len(answers))
        except Refused:
            self.leave(answers)
            raise
        form = Form(chat, model.name)
        if body.get("stream"):
            wants = (body.get("stream_options") or {}).get("include_usage")
            request.state.streams = True
            return StreamingResponse(
                self.stream(request, model, answers, form, n if wants else 0),
                media_type="text/event-stream",
                headers={"Cache-Control": "no-store"})
        texts = await self.whole(request, answers)
        self.count(request, model, answers)
        return JSONResponse(form.whole(texts, answers, n))

    @staticmethod
    def leave(answers: list[Answer]) -> None:
        """Nobody reads these texts any more: they go no further."""
        for answer in answers:
            answer.line.gone = True

    def count(self, request: Request, model: Texts,
              answers: list[Answer]) -> None:
        """Counts the tokens of answers that are over."""
        made = sum(answer.tokens for answer in answers)
        request.state.facts += f" tokens={made}"
        self.owner.metrics.tokens.labels(model.name).inc(
            made + sum(answer.prompt for answer in answers))

    async def whole(self, request: Request,
                    answers: list[Answer]) -> list[str]:
        """The whole texts, within the timeout. Refused: 499, 504."""
        async def collect(answer):
            return "".join([part async for part in answer.parts()])
        found: asyncio.Future[Any] = asyncio.gather(*map(collect, answers))
        gone: asyncio.Future[Any] = asyncio.ensure_future(request.receive())
        try:
            await asyncio.wait({found, gone}, timeout=self.options.timeout,
                               return_when=asyncio.FIRST_COMPLETED)
            if found.done():
                return found.result()
            if gone.done():
                raise Refused(GONE, "the client is gone")
            raise Refused(504, "there is no answer after "
                          f"{self.options.timeout:g} s")
        finally:
            self.leave(answers)
            found.cancel()
            gone.cancel()

    async def stream(self, request: Request, model: Texts,
                     answers: list[Answer], form: Form,
                     n: int) -> AsyncIterator[str]:
        """The events of a stream; the log has its line at the end. n: texts of
        a prompt, for the usage; 0: the usage is not asked for."""
        begin, status = time.perf_counter(), GONE
        try:
            async with contextlib.aclosing(merged(answers)) as parts:
                async for answer, text, tokens in parts:
                    yield form.part(answer, text, tokens)
            if n:
                yield form.end(answers, n)
            yield "data: [DONE]\n\n"
            status = 200
        except Exception as error:  # the head is sent: the stream says it
            status = 500
            yield "data: " + json.dumps({"error": {
                "message": str(error), "type": "server_error", "param": None,
                "code": 500}}) + "\n\n"
        finally:
            self.leave(answers)
            self.count(request, model, answers)
            self.owner.note(request, status, time.perf_counter() - begin)
