"""How `mille serve` joins requests, without a model: a queue that is full, slow
models, clients that go away."""
import argparse
import socket
import threading
import time
import types

import pytest

from mille.serving import joiner

TIMEOUT = 2.5  # s; three requests come in it, on a busy machine too
LIMITS = {"max_bytes": 10000, "max_texts": 100, "api_key": None, "quiet": True}


class Slow:
    """Runs batches when told, and keeps them."""

    def __init__(self, most=4, wait=0.0, room=6):
        self.batches, self.gate = [], threading.Semaphore(0)
        self.begun = threading.Semaphore(0)
        self.joiner = joiner.Joiner(self.run, most, wait, room)

    def run(self, items):
        self.batches.append(items)
        self.begun.release()
        assert self.gate.acquire(timeout=30)
        if "bad" in items:
            raise ValueError("a bad item")
        return [item.upper() for item in items]

    def go(self, batches=100):
        self.gate.release(batches)


@pytest.fixture
def slow():
    made = Slow()
    yield made
    made.go()
    made.joiner.close()


def test_requests_are_joined_in_turn(slow):
    first = slow.joiner.submit(["x"])
    assert slow.begun.acquire(timeout=30)
    jobs = [slow.joiner.submit(items) for items in (["a", "b", "c", "d"],
                                                    ["e"])]
    slow.go()
    assert first.future.result(30) == ["X"]
    assert [job.future.result(30) for job in jobs] == [["A", "B", "C", "D"],
                                                       ["E"]]
    assert slow.batches == [["x"], ["a", "e", "b", "c"], ["d"]]
    assert slow.joiner.waiting == 0


def test_a_batch_waits_for_others():
    slow = Slow(most=2, wait=30)
    slow.go()
    begin = time.monotonic()
    jobs = [slow.joiner.submit([item]) for item in "ab"]
    assert [job.future.result(20) for job in jobs] == [["A"], ["B"]]
    assert slow.batches == [["a", "b"]] and time.monotonic() - begin < 20
    slow.joiner.close()


def test_a_full_queue(slow):
    slow.joiner.submit(["x"])
    assert slow.begun.acquire(timeout=30)
    large = slow.joiner.submit(list("abcdefgh"))  # of an empty queue
    with pytest.raises(joiner.Full):
        slow.joiner.submit(["i"])
    slow.go()
    assert large.future.result(30) == list("ABCDEFGH")
    assert slow.joiner.submit(["i"]).future.result(30) == ["I"]


def test_what_is_cancelled_does_not_run(slow):
    slow.joiner.submit(["x"])
    assert slow.begun.acquire(timeout=30)
    gone, kept = slow.joiner.submit(["g"] * 5), slow.joiner.submit(["k"])
    with pytest.raises(joiner.Full):
        slow.joiner.submit(["f"])
    gone.cancel()  # its room is free while the first batch runs
    assert slow.joiner.waiting == 1
    last = slow.joiner.submit(["l"])
    slow.go()
    assert last.future.result(30) == ["L"]
    assert kept.future.result(30) == ["K"]
    assert slow.batches == [["x"], ["k", "l"]] and slow.joiner.waiting == 0


def test_a_failure_is_of_its_batch(slow):
    slow.go()
    with pytest.raises(ValueError, match="a bad item"):
        slow.joiner.submit(["bad"] + ["a"] * 9).future.result(30)
    assert slow.joiner.submit(["a"]).future.result(30) == ["A"]
    assert slow.joiner.waiting == 0


def test_close_runs_what_waits(slow):
    job = slow.joiner.submit(["a"] * 9)
    slow.go()
    slow.joiner.close()
    assert job.future.result(0) == ["A"] * 9
    with pytest.raises(joiner.Closed):
        slow.joiner.submit(["a"])


class Model(Slow):
    """A Served of one vector a text, as large as the text's."""
    name, task, width = "slow", "embeddings", 1
    longest = 9

    def tokens(self, texts):
        return [types.SimpleNamespace(ids=text) for text in texts]

    def run(self, items):
        super().run([one.ids for one in items])
        return [types.SimpleNamespace(tolist=lambda: [1.0]) for _ in items]

    def shortened(self, vectors, channels):
        assert channels is None
        return vectors


@pytest.fixture
def served():
    """(model, its port): the application on loopback, in this process."""
    uvicorn = pytest.importorskip("uvicorn")
    from mille.serving.app import application
    model = Model(room=2)
    options = argparse.Namespace(timeout=TIMEOUT, **LIMITS)
    config = uvicorn.Config(application({"slow": model}, options),
                            log_level="error", port=0)
    server = uvicorn.Server(config)
    listens = config.bind_socket()
    listens.listen()
    thread = threading.Thread(target=server.run, args=([listens],))
    thread.start()
    yield model, listens.getsockname()[1]
    model.go()
    server.should_exit = True
    thread.join(30)
    assert not thread.is_alive()


def send(port, text, length=None):
    body = b'{"model": "slow", "input": "%s"}' % text
    open_ = socket.create_connection(("127.0.0.1", port), timeout=30)
    open_.sendall(b"POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nConnection: "
                  b"close\r\nContent-Length: %d\r\n\r\n%s" %
                  (length or len(body), body))
    return open_


def wait_for(model, texts):
    """Returns when so many texts wait, or fails after far longer than a busy
    machine needs."""
    end = time.monotonic() + 30
    while model.joiner.waiting != texts:
        assert time.monotonic() < end
        time.sleep(0.001)


def answer(open_):
    with open_, open_.makefile("rb") as file:
        return file.read().decode()


def test_times_out_and_is_full(served):
    model, port = served
    first = send(port, b"x")
    assert model.begun.acquire(timeout=30)
    others = [send(port, b"y") for _ in range(2)]
    wait_for(model, 2)
    full = answer(send(port, b"z"))
    assert full.startswith("HTTP/1.1 429") and "retry-after: 1" in full
    assert "2 texts wait and 1 more are asked for, but 2 may wait" in full
    for open_ in [first, *others]:
        late = answer(open_)
        assert late.startswith("HTTP/1.1 504")
        assert f"no answer after {TIMEOUT:g} s" in late
    model.go()
    assert answer(send(port, b"z")).startswith("HTTP/1.1 200")
    assert model.batches == [["x"], ["z"]]


def test_half_a_request(served):
    _, port = served
    said = answer(send(port, b"x", length=1000))
    assert said.startswith("HTTP/1.1 408")
    assert f"has not come within {TIMEOUT:g} s" in said


def test_a_client_that_goes_away(served):
    model, port = served
    first = send(port, b"x")
    assert model.begun.acquire(timeout=30)
    gone = send(port, b"gone")
    wait_for(model, 1)
    gone.close()
    send(port, b"half", length=1000).close()
    wait_for(model, 0)
    model.go()
    assert answer(first).startswith("HTTP/1.1 200")
    assert answer(send(port, b"y")).startswith("HTTP/1.1 200")
    assert model.batches == [["x"], ["y"]]
