"""Requests for texts through the application, without a network: a model that
says the alphabet in place of a real one."""
import asyncio
import json
import threading
import types

import pytest

import mille

pytest.importorskip("starlette")


class Alphabet:
    """A generation whose next letter is the one behind the last, or the
    seed-th behind that."""

    def __init__(self):
        self.held, self.ran, self.prompts = {}, set(), 0

    def open(self):
        number = max(self.held, default=0) + 1
        self.held[number] = None
        return number

    def close(self, sequence):
        del self.held[sequence]
        self.ran.discard(sequence)

    def append(self, sequence, ids):
        if max(ids) > 255:
            raise mille.InvalidArgument(f"id {max(ids)}: it has 0 to 255")
        self.prompts += self.held[sequence] is None
        self.held[sequence] = (self.held[sequence] or []) + ids

    def fork(self, sequence, length):
        number = self.open()
        self.held[number] = self.held[sequence][:length]
        assert len(self.held[number]) == length
        if sequence in self.ran:
            self.ran.add(number)
        else:
            self.prompts += 1  # it would run in both
        return number

    def decode(self):
        self.ran |= set(self.held)

    def sample(self, sequence, seed, **sampling):
        assert sequence in self.ran
        return self.held[sequence][-1] + 1 + seed

    def logprob(self, sequence, id):
        return -id / 100

    def likeliest(self, sequence, count):
        return [(ord("A") + i, -float("inf") if i else -0.5)
                for i in range(count)]


class Letters:
    """A tokenizer of bytes."""

    def decode(self, ids, skip_special_tokens):
        return bytes(ids).decode("utf-8", "replace")


async def asked(app, path, body):
    """(status, JSON or events) of one request."""
    sent = []
    first = [{"type": "http.request", "body": json.dumps(body).encode(),
              "more_body": False}]

    async def receive():
        if first:
            return first.pop()
        await asyncio.Event().wait()  # the client stays

    async def send(message):
        sent.append(message)
    await app({"type": "http", "method": "POST", "path": path, "headers": [],
               "query_string": b"", "client": None}, receive, send)
    text = b"".join(one.get("body", b"") for one in sent).decode()
    if not body.get("stream") or sent[0]["status"] != 200:
        return sent[0]["status"], json.loads(text)
    *events, done, _ = text.split("\n\n")
    assert done == "data: [DONE]"
    return sent[0]["status"], [json.loads(one[6:]) for one in events]


def ask(path="/v1/completions", room=99, **body):
    """The answer of a server of its own, which holds no sequence after it."""
    from mille.serving.app import application
    from mille.serving.writer import Writer
    made = Alphabet()
    writer = Writer(made, 2, [], room)
    model = types.SimpleNamespace(
        name="letters", task="completions", context=20, tokenizer=Letters(),
        joiner=writer, ids=lambda prompt, chat: list(prompt.encode()),
        conversation=lambda messages: messages[-1]["content"])
    options = types.SimpleNamespace(max_bytes=10 ** 5, max_texts=50, timeout=60,
                                    api_key=None, quiet=True)
    try:
        return asyncio.run(asked(application({"letters": model}, options), path,
                                 {"model": "letters", "seed": 0, **body}))
    finally:
        writer.close()
        assert not made.held


def texts_of(answer):
    assert [one["index"] for one in answer["choices"]] == \
        list(range(len(answer["choices"])))
    return [one["text"] for one in answer["choices"]]


def test_several_texts():
    """Of each prompt n texts, whose seeds follow each other."""
    status, answer = ask(prompt=["ab", "x"], n=2, max_tokens=3)
    assert status == 200
    assert texts_of(answer) == ["cde", "dfh", "yz{", "z|~"]
    assert all(one["finish_reason"] == "length" and one["logprobs"] is None
               for one in answer["choices"])
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 12,
                               "total_tokens": 15}
    assert texts_of(ask(prompt="ab", max_tokens=3)[1]) == ["cde"]
    _, answer = ask("/v1/chat/completions", n=2, max_tokens=3,
                    messages=[{"role": "user", "content": "ab"}])
    assert [one["message"]["content"] for one in answer["choices"]] == \
        ["cde", "dfh"]


class Held(Alphabet):
    """Whose first step waits until all is asked."""

    def __init__(self):
        super().__init__()
        self.asked = threading.Event()

    def decode(self):
        assert self.asked.wait(30)
        super().decode()


@pytest.mark.parametrize("sequences, prompts", [(2, 1), (3, 1), (1, 3)])
def test_equal_prompts_run_once(sequences, prompts):
    """As long as one of their texts is open where another begins: at the same
    time, or later, when the first is further on."""
    from mille.serving.writer import Line, Writer
    made, said = Held(), [[] for _ in range(4)]
    writer = Writer(made, sequences, [], 9)
    for (text, most, seed), own in zip((("x", 1, 0), ("ab", 3, 0), ("ab", 5, 1),
                                        ("ab", 3, 2)), said):
        writer.submit(Line(list(text.encode()), most, {"seed": seed},
                           own.append))
    made.asked.set()
    writer.close()
    assert [bytes(own[:-1]).decode() for own in said] == ["y", "cde", "dfhjl",
                                                          "ehk"]
    assert [own[-1] for own in said] == ["length"] * 4
    assert made.prompts == 1 + prompts and not made.held


def test_prompts_of_ids():
    assert texts_of(ask(prompt=[97, 98], max_tokens=3)[1]) == ["cde"]
    _, answer = ask(prompt=[[97, 98], [120]], max_tokens=3, stop="d")
    assert texts_of(answer) == ["c", "yz{"]
    status, answer = ask(prompt=[97, 256], max_tokens=3)
    assert status == 400 and "256" in answer["error"]["message"]


def test_streams_of_several_texts():
    asks = {"prompt": ["ab", "x"], "n": 2, "max_tokens": 9, "stop": "!"}
    _, whole = ask(**asks)
    _, (*events, end) = ask(**asks, stream=True,
                            stream_options={"include_usage": True})
    texts, reasons = [""] * 4, [None] * 4
    for event in events:
        one, = event["choices"]
        assert reasons[one["index"]] is None  # nothing behind the end
        texts[one["index"]] += one["text"]
        reasons[one["index"]] = one["finish_reason"]
    assert texts == texts_of(whole) and set(reasons) == {"length"}
    assert end["choices"] == [] and end["usage"] == whole["usage"]


def test_logprobs_of_a_completion():
    asks = {"prompt": "ab", "max_tokens": 3, "logprobs": 2}
    _, answer = ask(**asks)
    found = answer["choices"][0]["logprobs"]
    assert found == {
        "tokens": ["c", "d", "e"], "text_offset": [0, 1, 2],
        "token_logprobs": [-0.99, -1.0, -1.01],
        "top_logprobs": [{"A": -0.5, "B": -9999.0}] * 3}
    _, events = ask(**asks, stream=True)
    parts = [one["choices"][0]["logprobs"] for one in events]
    for key in found:
        assert sum((part[key] for part in parts if part), []) == found[key]
    _, answer = ask(**{**asks, "logprobs": 0})
    assert answer["choices"][0]["logprobs"] == {**found, "top_logprobs": None}


def test_logprobs_of_a_chat():
    asks = {"messages": [{"role": "user", "content": "ab"}], "max_tokens": 2,
            "logprobs": True}
    _, answer = ask("/v1/chat/completions", **asks, top_logprobs=1)
    top = {"token": "A", "logprob": -0.5, "bytes": [65]}
    assert answer["choices"][0]["logprobs"] == {"refusal": None, "content": [
        {"token": "c", "logprob": -0.99, "bytes": [99], "top_logprobs": [top]},
        {"token": "d", "logprob": -1.0, "bytes": [100], "top_logprobs": [top]}]}
    _, answer = ask("/v1/chat/completions", **asks)
    assert [one["top_logprobs"] for one in
            answer["choices"][0]["logprobs"]["content"]] == [[], []]


CHAT = {"messages": [{"role": "user", "content": "ab"}]}


@pytest.mark.parametrize("body, status, why", [
    ({"prompt": []}, 400, "prompt must be a text or a list of texts"),
    ({"prompt": [97, "b"]}, 400, "number 0 is no list of whole numbers from 0"),
    ({"prompt": [[97], "b"]}, 400, "number 1 is no list of whole numbers"),
    ({"prompt": [[97], []]}, 400, "number 1 is no list of whole numbers"),
    ({"prompt": ["b", [97]]}, 400, "prompt must be texts but number 1 is a li"),
    ({"prompt": [-1]}, 400, "number 0 is no list of whole numbers from 0"),
    ({"prompt": [True]}, 400, "number 0 is no list of whole numbers from 0"),
    ({"prompt": [[97]] * 51}, 413, "prompt has 51 lists but may have 50"),
    ({"prompt": "a", "n": 0}, 400, "n is 0 but must be a whole number from 1"),
    ({"prompt": ["a", "b"], "n": 26}, 413, "are 52 texts but a request may"),
    ({"prompt": "a", "n": 2, "best_of": 3}, 400, "best_of is 3 but must be n"),
    ({"prompt": ["a", "b" * 20]}, 400, "the prompt has 20 tokens but may have"),
    ({"prompt": "a", "logprobs": 21}, 400, "logprobs is 21 but must be a whole "
     "number from 0 to 20"),
    ({"prompt": "a", "top_logprobs": 2}, 400, "top_logprobs needs logprobs"),
    ({**CHAT, "logprobs": 3}, 400, "logprobs is 3 but must be true or false"),
    ({**CHAT, "logprobs": True, "top_logprobs": -1}, 400, "from 0 to 20"),
    ({"prompt": "a", "echo": True}, 400, "echo is not known to this server"),
    ({"prompt": "a", "n": 50, "room": 3}, 429, "texts wait and 50 more are"),
])
def test_refused_texts(body, status, why):
    path = "/v1/chat/completions" if "messages" in body else "/v1/completions"
    found, answer = ask(path, **body)
    assert found == status and why in answer["error"]["message"]
