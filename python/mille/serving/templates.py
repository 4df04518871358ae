"""Chat templates: which one a folder has, and what one makes of a conversation,
as `apply_chat_template` of transformers does. Must not know what a server is."""
from __future__ import annotations

import functools
import json
import os
from datetime import datetime

from .. import batches
from ..errors import InvalidArgument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import jinja2


def today() -> datetime:
    """The time that templates which say a date have."""
    return datetime.now()


@functools.lru_cache(maxsize=None)
def environment() -> jinja2.Environment:
    """Jinja as transformers sets it up."""
    import jinja2
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """Marks what the model said, for training: its text is its body."""
        tags = {"generation"}

        def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",),
                                           drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("said"), [], [],
                                          body).set_lineno(line)

        def said(self, caller: Any) -> str:
            return caller()

    def refuse(why: str) -> None:
        raise jinja2.TemplateError(why)

    def tojson(value: Any, ensure_ascii: bool = False, indent: Any = None,
               separators: Any = None, sort_keys: bool = False) -> str:
        # Jinja's own escapes what HTML would read.
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent,
                          separators=separators, sort_keys=sort_keys)

    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True,
        extensions=[Generation, loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = refuse
    made.globals["strftime_now"] = lambda form: today().strftime(form)
    return made


class ChatTemplate:
    """The template of a folder, and the texts of its special tokens."""

    def __init__(self, name: str, model: str):
        about = batches.about(model)
        self.name = name
        self.words = {}
        for key, value in about.items():
            value = value.get("content") if isinstance(value, dict) else value
            if key.endswith("_token") and isinstance(value, str):
                self.words[key] = value
        self.text = about.get("chat_template")
        written = os.path.join(model, "chat_template.jinja")
        if os.path.exists(written):
            with open(written, encoding="utf-8") as file:
                self.text = file.read()

    @functools.cached_property
    def template(self) -> jinja2.Template:
        """The one of a list is that of the name `default`."""
        import jinja2
        text = self.text
        if isinstance(text, list):
            named = {one["name"]: one["template"] for one in text}
            if "default" not in named:
                raise InvalidArgument(
                    f"the model {self.name} has the chat templates "
                    f"{', '.join(named) or '(none)'} but none named default")
            text = named["default"]
        if not isinstance(text, str):
            raise InvalidArgument(f"the model {self.name} has no chat template")
        try:
            return environment().from_string(text)
        except jinja2.TemplateError as error:
            raise InvalidArgument(f"the chat template of the model {self.name} "
                                  f"cannot be read: {error}") from error

    def render(self, messages: list[dict[str, Any]]) -> str:
        """The prompt that a conversation is, up to the model's answer."""
        template = self.template
        try:
            return template.render(messages=messages, tools=None,
                                   documents=None, add_generation_prompt=True,
                                   **self.words)
        # Anything may go wrong in a template: it is a program of the model's.
        except Exception as error:
            raise InvalidArgument("the model's chat template refuses the "
                                  f"messages: {error}") from error
