"""Ids to text as they come, and where a text stops. Must not run a model."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence


class Prose:
    """The text of ids that follow a prompt. A letter of several tokens, and
    what may become a stop, is kept until it is whole."""

    def __init__(self, tokenizer: Any, prompt: Sequence[int],
                 stops: Sequence[str]):
        self.tokenizer, self.stops = tokenizer, stops
        # A few ids before, so that a space between words is seen.
        self._ids = list(prompt[-6:])
        self._from, self._said = 0, len(self._ids)
        self._kept = ""
        self.stopped = False

    def _text(self, ids):
        return self.tokenizer.decode(ids, skip_special_tokens=True)

    def add(self, id: int) -> str:
        """The text that is certain now."""
        self._ids.append(id)
        before = self._text(self._ids[self._from:self._said])
        whole = self._text(self._ids[self._from:])
        if len(whole) <= len(before) or whole.endswith("\ufffd"):
            return ""
        self._from, self._said = self._said, len(self._ids)
        return self._release(whole[len(before):])

    def rest(self) -> str:
        """What was kept, at the end."""
        before = self._text(self._ids[self._from:self._said])
        whole = self._text(self._ids[self._from:])
        text = self._release(whole[len(before):]) if not self.stopped else ""
        kept, self._kept = self._kept, ""
        return text if self.stopped else text + kept

    def _release(self, text):
        text = self._kept + text
        places = [place for stop in self.stops
                  if (place := text.find(stop)) >= 0]
        if places:
            self.stopped, self._kept = True, ""
            return text[:min(places)]
        keep = max((n for stop in self.stops for n in range(1, len(stop))
                    if text.endswith(stop[:n])), default=0)
        self._kept = text[len(text) - keep:]
        return text[:len(text) - keep]
