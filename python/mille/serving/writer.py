"""Continues the texts of many requests in one thread: every step decodes all
that are open, and equal prompts run once. Must not know what HTTP is."""
from __future__ import annotations

import collections
import threading

from .joiner import Closed, Full

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable

    from .._mille import Generation


Token = collections.namedtuple("Token", "id logprob likeliest")


class Line:
    """One text that is continued, from its ids to its end. `say` is called in
    the thread with each new id, then once with why it ends: "stop", "length",
    or an exception. likeliest: an id comes as a Token, with the logarithm of
    its probability by the model alone, and with as many of the likeliest
    (id, logarithm)."""

    def __init__(self, ids: list[int], most: int, sampling: dict[str, Any],
                 say: Callable[[Any], object], likeliest: int | None = None):
        self.ids, self.left, self.sampling = ids, most, sampling
        self.say, self.gone = say, False
        self.sequence: int | None = None
        self.ran = False  # its ids, and its logits are known
        self.likeliest = likeliest


class Writer:
    """generation  that this thread alone uses
    sequences   that it holds
    end         ids that end a text and do not belong to it
    room        texts that may wait for a sequence
    """

    def __init__(self, generation: Generation, sequences: int,
                 end: Iterable[int], room: int):
        self.generation, self.sequences = generation, sequences
        self.end, self.room = frozenset(end), room
        self._waiting: collections.deque[Line] = collections.deque()
        self._open: list[Line] = []
        self._change = threading.Condition()
        self._closed = False
        self.batches = 0  # steps that have run
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Texts that wait for a sequence."""
        return len(self._waiting)

    def submit(self, line: Line) -> None:
        """Puts a text into the queue. Full, Closed: it takes none."""
        with self._change:
            if self._closed:
                raise Closed
            if len(self._waiting) >= self.room:
                raise Full
            self._waiting.append(line)
            self._change.notify()

    def close(self) -> None:
        """Ends every text that is open or waits, then the thread."""
        with self._change:
            self._closed = True
            self._change.notify()
        self._thread.join()

    def _take(self):
        """Opens what waits and has room. False: all is done."""
        with self._change:
            while not (self._open or self._waiting or self._closed):
                self._change.wait()
            while self._waiting and len(self._open) < self.sequences:
                line = self._waiting.popleft()
                if not line.gone:
                    self._open.append(line)
        for line in self._without_sequence():
            like = self._like(line)
            if like is None or like.ran:
                self._begin(line, like)
        return bool(self._open or self._waiting or not self._closed)

    def _without_sequence(self):
        return [line for line in self._open if line.sequence is None]

    def _like(self, line):
        """One that has a sequence and began with the same ids, or None."""
        return next((one for one in self._open if one.sequence is not None
                     and one.ids == line.ids), None)

    def _begin(self, line, like):
        """Gives a line its sequence: its ids do not run again where they ran
        for another line."""
        try:
            if like is None:
                line.sequence = self.generation.open()
                self.generation.append(line.sequence, line.ids)
            else:
                line.sequence = self.generation.fork(like.sequence,
                                                     len(line.ids))
        except Exception as error:  # an id that the model does not have
            self._end(line, error)

    def _decode(self):
        """One step of all; then those begin that waited for their ids to run
        in another line's sequence."""
        self.generation.decode()
        self.batches += 1
        for line in self._without_sequence():
            self._begin(line, self._like(line))
        for line in self._open:
            line.ran = True

    def _end(self, line, why):
        self._open.remove(line)
        if line.sequence is not None:
            self.generation.close(line.sequence)
        line.say(why)

    def _step(self, line):
        if line.gone:
            return self._end(line, "stop")
        if line.left == 0:
            return self._end(line, "length")
        id = self.generation.sample(line.sequence, **line.sampling)
        if id in self.end:
            return self._end(line, "stop")
        line.left -= 1
        line.say(id if line.likeliest is None else Token(
            id, self.generation.logprob(line.sequence, id),
            self.generation.likeliest(line.sequence, line.likeliest)))
        if line.left == 0:
            return self._end(line, "length")
        self.generation.append(line.sequence, [id])

    def _work(self):
        while self._take():
            try:
                if self._open:
                    self._decode()
            except Exception as error:
                for line in list(self._open):
                    self._end(line, error)
            for line in list(self._open):
                try:
                    self._step(line)
                except Exception as error:
                    self._end(line, error)
