"""What a request must be, and the answers to those that are not so. Must not
know any route."""
from __future__ import annotations

import asyncio
import json

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any, Mapping

    from starlette.requests import Request

GONE = 499  # the client closed the connection before the answer


class Refused(Exception):
    """A request that gets no answer: its status and why."""

    def __init__(self, status: int, why: str, **headers: str):
        super().__init__(why)
        self.status, self.headers = status, headers


KINDS = {401: "authentication_error", 404: "not_found_error",
         408: "timeout_error", 413: "request_too_large",
         429: "rate_limit_error", 503: "overloaded_error",
         504: "timeout_error"}


def refusal(status: int, why: str,
            headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer that says why there is no other, as OpenAI's clients read
    it."""
    kind = KINDS.get(status, "invalid_request_error" if status < 500
                     else "server_error")
    return JSONResponse({"error": {"message": why, "type": kind,
                                   "param": None, "code": status}},
                        status, headers)


PATIENCE = 16  # times `most` bytes that are read to be dropped


async def bytes_of(request: Request, most: int) -> bytearray:
    """The body of a request, which may have `most` bytes. More is read and
    dropped: a client that still sends sees no answer, but a connection that is
    broken."""
    said = request.headers.get("content-length", "")
    too_large = Refused(413, f"the request has more than {most} bytes",
                        Connection="close")
    if said.isdigit() and int(said) > PATIENCE * most:
        raise too_large
    got, seen = bytearray(), 0
    async for part in request.stream():
        seen += len(part)
        if seen <= most:
            got += part
        elif seen > PATIENCE * most:
            break
    if seen > most:
        raise too_large
    return got


async def body_of(request: Request,
                  options: argparse.Namespace) -> dict[str, Any]:
    """The JSON object of a request, which must come within the timeout."""
    try:
        got = await asyncio.wait_for(bytes_of(request, options.max_bytes),
                                     options.timeout)
    except ClientDisconnect as error:
        raise Refused(GONE, "the client is gone") from error
    except asyncio.TimeoutError as error:
        raise Refused(408, "the request has not come within "
                      f"{options.timeout:g} s", Connection="close") from error
    try:
        body = json.loads(got)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the request is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise Refused(400, "the request must be a JSON object but is a "
                      f"{type(body).__name__}")
    return body


def whole(body: dict[str, Any], key: str, default: Any, least: int,
          most: int | None = None) -> Any:
    """The whole number of a request under `key`, or `default`. Refused: 400."""
    value = body.get(key)
    if value is None:
        return default
    if type(value) is not int or value < least or \
            (most is not None and value > most):
        upto = "" if most is None else f" to {most}"
        raise Refused(400, f"{key} is {value!r} but must be a whole number "
                      f"from {least}{upto}")
    return value


def inputs_of(value: Any, what: str, most: int) -> list[Any]:
    """A list of texts, or of lists of ids, out of one or several."""
    if not isinstance(value, list) or not value or \
            isinstance(value[0], str):
        return texts_of(value, what, most)
    given = value if isinstance(value[0], list) else [value]
    for i, ids in enumerate(given):
        if not isinstance(ids, list) or not ids or \
                any(type(id) is not int or not 0 <= id < 2 ** 31 for id in ids):
            raise Refused(400, f"{what} must be texts or lists of ids, but "
                          f"number {i} is no list of whole numbers from 0")
    if len(given) > most:
        raise Refused(413, f"{what} has {len(given)} lists but may have {most}")
    return given


def texts_of(value: Any, what: str, most: int) -> list[str]:
    """A list of strings, out of one or several."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts:
        raise Refused(400, f"{what} must be a text or a list of texts")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise Refused(400, f"{what} must be texts but number {i} is a "
                          f"{type(text).__name__}")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise Refused(400, f"{what}: number {i} is no Unicode: it has half "
                          "of a surrogate pair")
    if len(texts) > most:
        raise Refused(413, f"{what} has {len(texts)} texts but may have {most}")
    return texts
