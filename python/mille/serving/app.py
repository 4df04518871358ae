"""The HTTP of `mille serve`: routes, limits, and the JSON that the openai
client and the known rerankers use. Must not run a model: a Served does."""
from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import sys
import time

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..errors import InvalidArgument
from .completions import Completions
from .joiner import Closed, Full
from .metrics import Metrics
from .refusals import (GONE, Refused, body_of, inputs_of, refusal,
                       texts_of, whole)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any, Awaitable, Callable

    from starlette.requests import Request

    from .models import Model, Served

    Answering = Callable[[Request], Awaitable[Response]]


class Application:
    """The answers. `models` are Served, by name."""

    def __init__(self, models: dict[str, Model], options: argparse.Namespace):
        self.models, self.options = models, options
        self.metrics = Metrics(models)
        self.began = int(time.time())

    def model(self, name: object, task: str | None = None) -> Any:
        """The model of a request; without a name the only one. Refused: 400,
        404."""
        if task and name is None and len(self.models) == 1:
            name = next(iter(self.models))
        if not isinstance(name, str):
            raise Refused(400, "model must be the name of a model: one of "
                          f"{', '.join(self.models)}")
        model = self.models.get(name)
        if model is None:
            raise Refused(404, f"there is no model {name!r} but "
                          f"{', '.join(self.models)}")
        if task and model.task != task:
            raise Refused(400, f"the model {name} is for {model.task} but the "
                          f"request is for {task}")
        return model

    def submit(self, model: Model, asked: Any, texts: int = 1) -> Any:
        """Puts what is asked into the model's queue."""
        try:
            return model.joiner.submit(asked)
        except Full as error:
            raise Refused(
                429, f"{model.joiner.waiting} texts wait and {texts} more "
                f"are asked for, but {model.joiner.room} may wait",
                **{"Retry-After": "1"}) from error
        except Closed as error:
            raise Refused(503, "the server is about to stop") from error

    async def results(self, request: Request, model: Served,
                      texts: list[Any]) -> tuple[list[Any], int]:
        """(result of each text, number of tokens). Waits for the queue."""
        encodings = await asyncio.to_thread(model.tokens, texts)
        for i, one in enumerate(encodings):
            if not one.ids:
                raise Refused(400, f"text number {i} has no token")
        tokens = sum(len(one.ids) for one in encodings)
        request.state.facts = f"{model.name} texts={len(texts)} tokens={tokens}"
        job = self.submit(model, encodings, len(texts))
        found = asyncio.wrap_future(job.future)
        gone = asyncio.ensure_future(request.receive())
        await asyncio.wait({found, gone}, timeout=self.options.timeout,
                           return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if found.done():
            self.metrics.tokens.labels(model.name).inc(tokens)
            return found.result(), tokens
        job.cancel()
        if gone.done() and not gone.cancelled():
            raise Refused(GONE, "the client is gone")
        raise Refused(504, "there is no answer after "
                      f"{self.options.timeout:g} s")

    async def embeddings(self, request: Request) -> Response:
        """/v1/embeddings: a vector of each text."""
        body = await body_of(request, self.options)
        model = self.model(body.get("model"), "embeddings")
        texts = inputs_of(body.get("input"), "input", self.options.max_texts)
        form = body.get("encoding_format", "float")
        if form not in ("float", "base64"):
            raise Refused(400, f"encoding_format is {form!r} but must be float "
                          "or base64")
        channels = whole(body, "dimensions", None, 1, model.width)
        vectors, tokens = await self.results(request, model, texts)
        vectors = model.shortened(vectors, channels)
        said = (lambda one: base64.b64encode(one.tobytes()).decode()) \
            if form == "base64" else (lambda one: one.tolist())
        return JSONResponse({
            "object": "list", "model": model.name,
            "data": [{"object": "embedding", "index": i, "embedding": said(one)}
                     for i, one in enumerate(vectors)],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})

    async def rerank(self, request: Request) -> Response:
        """/rerank: the documents' scores, the best first."""
        body = await body_of(request, self.options)
        model = self.model(body.get("model"), "rerank")
        query, = texts_of([body.get("query")], "query", 1)
        given = body.get("documents")
        if isinstance(given, list):
            given = [one.get("text") if isinstance(one, dict) else one
                     for one in given]
        texts = texts_of(given, "documents", self.options.max_texts)
        most = whole(body, "top_n", None, 1)
        scores, tokens = await self.results(
            request, model, [(query, text) for text in texts])
        order = sorted(range(len(texts)), key=lambda i: -scores[i])[:most]
        results: list[dict[str, Any]] = [
            {"index": i, "relevance_score": float(scores[i])} for i in order]
        if body.get("return_documents"):
            for one in results:
                one["document"] = {"text": texts[one["index"]]}
        return JSONResponse({"model": model.name, "results": results,
                             "usage": {"total_tokens": tokens}})

    def facts(self, model: Model) -> dict[str, object]:
        """What /v1/models says of a model."""
        return {"id": model.name, "object": "model", "created": self.began,
                "owned_by": "mille", "task": model.task,
                "max_tokens": model.longest}

    async def list_models(self, request: Request) -> Response:
        """/v1/models."""
        return JSONResponse({"object": "list", "data": [
            self.facts(model) for model in self.models.values()]})

    async def one_model(self, request: Request) -> Response:
        """/v1/models/NAME."""
        return JSONResponse(self.facts(
            self.model(request.path_params["name"])))

    async def health(self, request: Request) -> Response:
        """/health: it answers."""
        return JSONResponse({"status": "ok"})

    async def show_metrics(self, request: Request) -> Response:
        """/metrics, as Prometheus reads them."""
        return Response(self.metrics.text(), media_type=Metrics.type)

    def check_key(self, request: Request) -> None:
        """Refuses a request without the key, with 401."""
        if not self.options.api_key:
            return
        given = request.headers.get("authorization", "")
        wanted = f"Bearer {self.options.api_key}"
        if not hmac.compare_digest(given.encode(), wanted.encode()):
            raise Refused(401, "the API key is missing or wrong",
                          **{"WWW-Authenticate": "Bearer"})

    def door(self, answer: Answering, open_to_all: bool = False) -> Answering:
        """What every request goes through: the key, the refusals, the log."""
        async def handle(request):
            begin = time.perf_counter()
            request.state.facts, request.state.streams = "", False
            try:
                if not open_to_all:
                    self.check_key(request)
                response = await answer(request)
            except Refused as error:
                response = refusal(error.status, str(error), error.headers)
            except InvalidArgument as error:
                response = refusal(400, str(error))
            except Exception as error:  # a model's failure
                response = refusal(500, f"{type(error).__name__}: {error}")
            if not request.state.streams:  # else at the end of the stream
                self.note(request, response.status_code,
                          time.perf_counter() - begin)
            return response
        return handle

    def note(self, request: Request, status: int, seconds: float) -> None:
        """Counts a request that is over, and writes its line of the log."""
        path = request.scope["route"].path
        self.metrics.requests.labels(path, status).inc()
        self.metrics.seconds.labels(path).observe(seconds)
        if not self.options.quiet:
            client = request.client.host if request.client else "-"
            print(f"{client} {request.method} {path} {status} "
                  f"{seconds * 1000:.1f} ms {request.state.facts}".rstrip(),
                  file=sys.stderr, flush=True)

    def routes(self) -> list[Route]:
        """Each path with what answers it."""
        door = self.door
        writes = Completions(self)
        posts = [("/v1/embeddings", self.embeddings),
                 ("/v1/completions", writes.completions),
                 ("/v1/chat/completions", writes.chat)] + [
            (path, self.rerank)
            for path in ("/rerank", "/v1/rerank", "/v2/rerank")]
        return [
            *(Route(path, door(answer), methods=["POST"])
              for path, answer in posts),
            Route("/v1/models", door(self.list_models)),
            Route("/v1/models/{name:path}", door(self.one_model)),
            Route("/health", door(self.health, open_to_all=True)),
            Route("/metrics", door(self.show_metrics, open_to_all=True))]


def application(models: dict[str, Model],
                options: argparse.Namespace) -> Starlette:
    """The ASGI application; its end runs what still waits."""
    answers = Application(models, options)

    @contextlib.asynccontextmanager
    async def life(app):
        yield
        for model in models.values():
            await asyncio.to_thread(model.joiner.close)

    async def unknown(request, error):
        why = {404: "there is no such path: " + request.url.path,
               405: f"{request.url.path} takes no {request.method}"}
        return refusal(error.status_code, why.get(error.status_code,
                                                  error.detail), error.headers)

    return Starlette(routes=answers.routes(), lifespan=life,
                     exception_handlers={HTTPException: unknown})
