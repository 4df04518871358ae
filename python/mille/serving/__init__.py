"""`mille serve`: models of text over HTTP."""
from __future__ import annotations

import argparse
import os
import socket
import sys

from ..errors import Error, InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    from .models import Model


def number(kind: type, least: float) -> Callable[[str], float]:
    """What reads an option's number, which must be at least this."""
    def read(text):
        value = kind(text)
        if not value >= least:
            raise argparse.ArgumentTypeError(
                f"{text} must be at least {least}")
        return value
    read.__name__ = "number"
    return read


def options_of(words: list[str]) -> argparse.Namespace:
    """The options of a command line; argparse ends the process if they are
    wrong."""
    parser = argparse.ArgumentParser(
        prog="mille serve", allow_abbrev=False,
        description="Answers HTTP: /v1/embeddings, /v1/completions, "
        "/v1/chat/completions and /v1/models as OpenAI has them, /rerank, "
        "/health, /metrics.")
    add = parser.add_argument
    add("models", nargs="+", metavar="[NAME=]DIR",
        help="a package, or a model's folder, which is compiled once")
    add("--host", default="127.0.0.1")
    add("--port", type=number(int, 0), default=8000, help="0: any free one")
    add("--threads", type=number(int, 0), default=0,
        help="threads of each model; 0: all cores")
    add("--dtype", default="f32", help="of folders that are compiled")
    add("--target", help="of folders that are compiled")
    add("--pooling", help="of folders without modules.json")
    add("--max-length", type=number(int, 1),
        help="tokens that a text is cut at; default: the model's")
    add("--batch", type=number(int, 1), default=32, help="texts of one run")
    add("--wait", type=number(float, 0), default=2.0,
        help="milliseconds that a run waits for other requests")
    add("--context", type=number(int, 2), default=2048,
        help="tokens that a text may have which is continued")
    add("--sequences", type=number(int, 1), default=8,
        help="texts that are continued at the same time")
    add("--queue", type=number(int, 1), default=4096,
        help="texts that may wait; more: status 429")
    add("--max-texts", type=number(int, 1), default=2048,
        help="texts of a request; more: status 413")
    add("--max-bytes", type=number(int, 1), default=4 << 20,
        help="bytes of a request; more: status 413")
    add("--timeout", type=number(float, 0.001), default=60.0,
        help="seconds that a request may take; longer: status 504")
    add("--api-key", default=os.environ.get("MILLE_API_KEY"),
        help="that requests must have; default: MILLE_API_KEY")
    add("--quiet", action="store_true", help="no line for each request")
    return parser.parse_args(words)


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        print(f"mille serve: {host} port {port}: {error.strerror or error}",
              file=sys.stderr)
        sys.exit(3)


def named(words: list[str]) -> dict[str, str]:
    """{name: folder} of `DIR` and `NAME=DIR`."""
    found = {}
    for word in words:
        name, equals, folder = word.partition("=")
        if not equals:
            name, folder = os.path.basename(os.path.abspath(word)), word
        if name in found:
            raise InvalidArgument(f"two models have the name {name}: give "
                                  "NAME=DIR")
        found[name] = folder
    return found


def open_models(options: argparse.Namespace) -> dict[str, Model]:
    """The models of the command line by name, or none of them and the
    exception."""
    from .models import open_model
    models = {}
    try:
        for name, folder in named(options.models).items():
            models[name] = open_model(name, folder, options)
    except BaseException:
        for model in models.values():
            model.joiner.close()
        raise
    return models


def serve(options: argparse.Namespace) -> int:
    """Answers until a signal ends it: the exit status."""
    import uvicorn

    from .app import application
    door = listen(options.host, options.port)
    models = open_models(options)
    server = uvicorn.Server(uvicorn.Config(
        application(models, options), log_level="warning", access_log=False,
        lifespan="on", timeout_graceful_shutdown=int(options.timeout) + 1))
    host, port = door.getsockname()[:2]
    host = f"[{host}]" if ":" in host else host
    print(f"mille serve: http://{host}:{port} has {', '.join(models)}",
          file=sys.stderr, flush=True)
    server.run(sockets=[door])
    return 0


def main(words: list[str]) -> int:
    """The exit status: 1 a model, 2 the command line, 3 the machine."""
    options = options_of(words)
    try:
        return serve(options)
    except ImportError as error:
        print("mille serve: needs more packages: pip install 'mille[serve]' "
              f"({error})", file=sys.stderr)
        return 3
    except Error as error:
        print(f"mille serve: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
