"""Joins what many requests ask into batches of one thread. Must not know what
an item is, nor what HTTP is."""
from __future__ import annotations

import collections
import concurrent.futures
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Sequence


class Full(Exception):
    """More items wait than the queue holds."""


class Closed(Exception):
    """The server is about to stop."""


class Job:
    """The items of one request, and their results in the same order."""

    def __init__(self, items: Sequence[Any]):
        self.items = items
        self.results: list[Any] = [None] * len(items)
        self.taken = self.done = 0
        self.arrival = time.monotonic()
        self.future: concurrent.futures.Future[list[Any]] = \
            concurrent.futures.Future()

    def cancel(self) -> None:
        """Nobody waits any more: what has not run will not run."""
        self.future.cancel()


class Joiner:
    """run      from a list of items to a list of results
    most     items of one batch
    wait     seconds that a batch waits for items of other requests
    room     items that may wait; one request may always come to an empty queue
    """

    def __init__(self, run: Callable[[list[Any]], Sequence[Any]], most: int,
                 wait: float, room: int):
        self.run, self.most, self.wait, self.room = run, most, wait, room
        self.waiting, self.batches = 0, 0  # items; batches that have run
        self._jobs: collections.deque[Job] = collections.deque()
        self._change = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def submit(self, items: Sequence[Any]) -> Job:
        """Puts the items of a request into the queue. Full, Closed: it takes
        none."""
        job = Job(items)
        with self._change:
            if self._closed:
                raise Closed
            if self.waiting and self.waiting + len(items) > self.room:
                raise Full
            self.waiting += len(items)
            self._jobs.append(job)
            self._change.notify()
        job.future.add_done_callback(self._leave)
        return job

    def close(self) -> None:
        """Runs what waits, then ends the thread."""
        with self._change:
            self._closed = True
            self._change.notify()
        self._thread.join()

    def _leave(self, future):
        """Nobody waits for this future: what of its job has not run leaves the
        queue at once, so that its room is another's."""
        with self._change:
            for job in [job for job in self._jobs if job.future is future]:
                self._jobs.remove(job)
                self.waiting -= len(job.items) - job.taken

    def _take(self):
        """[(job, number of its item)], one of each request in turn, so that a
        long request does not keep short ones waiting. None: all is done."""
        with self._change:
            while not self._jobs and not self._closed:
                self._change.wait()
            if not self._jobs:
                return None
            until = self._jobs[0].arrival + self.wait
            while self.waiting < self.most and not self._closed:
                left = until - time.monotonic()
                if left <= 0 or not self._change.wait(left):
                    break
            batch = []
            while self._jobs and len(batch) < self.most:
                job = self._jobs.popleft()
                batch.append((job, job.taken))
                job.taken += 1
                if job.taken < len(job.items):
                    self._jobs.append(job)
            self.waiting -= len(batch)
            return batch

    def _work(self):
        while (batch := self._take()) is not None:
            if not batch:  # all were cancelled
                continue
            try:
                results = self.run([job.items[i] for job, i in batch])
            except BaseException as error:  # the requests say it
                for job in {job for job, _ in batch}:
                    self._finish(job, job.future.set_exception, error)
                continue
            self.batches += 1
            for (job, i), result in zip(batch, results):
                job.results[i] = result
                job.done += 1
                if job.done == len(job.items):
                    self._finish(job, job.future.set_result, job.results)

    @staticmethod
    def _finish(job, settle, value):
        try:
            settle(value)
        except concurrent.futures.InvalidStateError:
            pass  # cancelled in this moment
