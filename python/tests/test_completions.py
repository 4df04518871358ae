"""Texts that `mille serve` continues. MILLE: the command; DECODER: a small
decoder's folder."""
import asyncio
import concurrent.futures
import json
import os
import shutil
import threading
import types

import pytest
import tokenizers
from test_serve import Server
from tiny import own_cache

import mille

pytest.importorskip("uvicorn")
TEMPLATE = ("{% for m in messages %}{% if m.role == 'tool' %}"
            "{{ raise_exception('no tools') }}{% endif %}"
            "<{{ m.role }}> {{ m.content }} {% endfor %}"
            "{% if add_generation_prompt %}<assistant>{% endif %}")

SPECIAL = ["<pad>", "<s>", "</s>", "<user>", "<assistant>", "<tool>"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The decoder with words w3 .. w63 and a chat template."""
    folder = tmp_path_factory.mktemp("models") / "decoder"
    shutil.copytree(os.environ["DECODER"], folder)
    (folder / "case.json").unlink(missing_ok=True)
    words = SPECIAL + [f"w{i}" for i in range(len(SPECIAL), 64)]
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(
        {word: i for i, word in enumerate([*words, "unknown"])},
        unk_token="<pad>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.add_special_tokens(words[:6])
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)])
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"chat_template": TEMPLATE, "bos_token": "<s>"}))
    return folder


@pytest.fixture(scope="module")
def server(folder, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MILLE_COMPILER", os.environ["MILLE"])
        patch.setenv("XDG_CACHE_HOME",
                     str(own_cache(tmp_path_factory.mktemp("completions"))))
        made = Server(str(folder), "--context=48", "--sequences=3",
                      "--threads=1", "--queue=50")
        yield made
        made.stop()


@pytest.fixture(scope="module")
def generation(tmp_path_factory):
    """What the server should say, by hand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MILLE_COMPILER", os.environ["MILLE"])
        return mille.compile(
            os.environ["DECODER"], tmp_path_factory.mktemp("by-hand") / "p",
            entries="next").generation(context=48, sequences=1, threads=1)


def wanted(generation, ids, most, **sampling):
    sampling = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, **sampling}
    found = list(generation.generate(ids, most, end=[2], **sampling))
    return " ".join(f"w{id}" for id in found if id > 5)


def ask(server, prompt="w7 w9 w30", path="/v1/completions", **options):
    status, answer = server.ask(path, {"model": "decoder", "prompt": prompt,
                                       **options})
    assert status == 200, answer
    return answer


def test_completions(server, generation):
    answer = ask(server, max_tokens=20, temperature=0)
    choice, = answer["choices"]
    assert choice["text"].strip() == wanted(generation, [1, 7, 9, 30], 20,
                                            temperature=0)
    assert choice["finish_reason"] in ("length", "stop")
    assert answer["usage"]["prompt_tokens"] == 4
    drawn = {"temperature": 1.5, "seed": 5}
    text = ask(server, max_tokens=20, **drawn)["choices"][0]["text"]
    assert text.strip() == wanted(generation, [1, 7, 9, 30], 20, **drawn)
    assert text != ask(server, max_tokens=20, temperature=1.5,
                       seed=6)["choices"][0]["text"]
    text = ask(server, max_tokens=3, temperature=0,
               logit_bias={"33": 1000})["choices"][0]["text"]
    assert text.split() == ["w33"] * 3


def test_several_are_as_each_alone(server, generation):
    """Texts of a request, prompts in ids, and what the model gives their
    tokens."""
    options = {"max_tokens": 6, "temperature": 1.5, "seed": 5}
    several = ask(server, ["w7 w9", "w8"], n=2, **options)["choices"]
    assert [one["text"] for one in several] == [
        ask(server, prompt, **{**options, "seed": seed})["choices"][0]["text"]
        for prompt in ("w7 w9", "w8") for seed in (5, 6)]
    assert len({one["text"] for one in several}) == 4
    of_ids = ask(server, [[1, 7, 9], [1, 8]], **options)["choices"]
    assert [one["text"] for one in of_ids] == [
        several[0]["text"], several[2]["text"]]
    found = ask(server, "w7 w9", max_tokens=1, temperature=0,
                logprobs=3)["choices"][0]["logprobs"]
    sequence = generation.open()
    generation.append(sequence, [1, 7, 9])
    generation.decode()
    wanted = generation.likeliest(sequence, 3)
    generation.close(sequence)
    words = SPECIAL + [f"w{i}" for i in range(len(SPECIAL), 64)]
    assert found["top_logprobs"] == [{words[id]: logprob
                                      for id, logprob in wanted}]
    assert found["token_logprobs"] == [wanted[0][1]]


def test_many_at_once_are_as_one_alone(server):
    def one(i):
        return ask(server, f"w{8 + i % 4} w9", max_tokens=12, temperature=1.2,
                   seed=i % 4)["choices"][0]["text"]
    alone = [one(i) for i in range(4)]
    assert len(set(alone)) == 4
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        assert list(pool.map(one, range(24))) == alone * 6


def streamed(server, path, **options):
    status, text = server.ask(path, {"model": "decoder", "stream": True,
                                     "seed": 3, **options})
    assert status == 200 and text.endswith("data: [DONE]\n\n")
    return [json.loads(line[6:]) for line in text.split("\n\n")[:-2]]


def test_streams(server):
    options = {"prompt": "w7 w9", "max_tokens": 9, "seed": 3,
               "temperature": 1.5}
    text = ask(server, **options)["choices"][0]["text"]
    parts = streamed(server, "/v1/completions", **options,
                     stream_options={"include_usage": True})
    *texts, end, usage = parts
    assert "".join(one["choices"][0]["text"] for one in texts) == text
    assert len(texts) > 1
    assert end["choices"][0]["finish_reason"] in ("length", "stop")
    assert usage["choices"] == [] and usage["usage"]["prompt_tokens"] == 3
    stop = text.split()[3]
    cut = ask(server, **options, stop=[stop])["choices"][0]
    assert cut["text"] == text[:text.index(stop)]
    assert cut["finish_reason"] == "stop"


def test_chat(server, generation):
    messages = [{"role": "user", "content": "w7 w9"}]
    parts = streamed(server, "/v1/chat/completions", messages=messages,
                     temperature=0, max_tokens=9)
    said = "".join(one["choices"][0]["delta"].get("content", "")
                   for one in parts)
    assert said.strip() == wanted(generation, [3, 7, 9, 4], 9, temperature=0)
    answer = ask(server, None, "/v1/chat/completions", temperature=0,
                 max_tokens=9, messages=[{"role": "user", "content": [
                     {"type": "text", "text": "w7"},
                     {"type": "text", "text": " w9"}]}])
    assert answer["choices"][0]["message"]["content"] == said


def test_the_openai_client_chats(server, generation):
    openai = pytest.importorskip("openai")
    messages = [{"role": "user", "content": "w7 w9"}]
    said = wanted(generation, [3, 7, 9, 4], 9, temperature=0)
    client = openai.OpenAI(api_key="none",
                           base_url=f"http://127.0.0.1:{server.port}/v1")
    answer = client.chat.completions.create(
        model="decoder", messages=messages, temperature=0, max_tokens=9)
    assert answer.choices[0].message.content.strip() == said
    stream = client.chat.completions.create(
        model="decoder", messages=messages, temperature=0, max_tokens=9,
        stream=True)
    assert "".join(part.choices[0].delta.content or ""
                   for part in stream).strip() == said


@pytest.mark.parametrize("path, body, why", [
    ("completions", {"prompt": "w7 " * 60}, "the prompt has 61 tokens but may "
     "have 1 to 47"),
    ("completions", {"prompt": "w7", "max_tokens": 47}, "2 tokens and 47 more "
     "are asked for, but the model holds 48"),
    ("completions", {"prompt": [64]}, "64"),  # the model has 0 to 63
    ("completions", {"prompt": "w7", "suffix": "w8"}, "suffix is not known"),
    ("completions", {"prompt": "w7", "logit_bias": {"w7": 1}}, "must map ids"),
    ("completions", {"prompt": "w7", "logit_bias": [7]}, "must map ids to num"),
    ("completions", {"prompt": "w7", "logit_bias": {"64": 1}}, "64"),
    ("completions", {"prompt": "w7", "temperature": "hot"}, "'hot' but must"),
    ("completions", {"prompt": "w7", "temperature": -1}, "temperature"),
    ("completions", {"prompt": "w7", "seed": -1}, "seed is -1 but must be"),
    ("completions", {"prompt": "w7", "stop": ""}, "stop must not be an empty"),
    ("completions", {"prompt": "w7", "max_tokens": 0}, "max_tokens is 0 but"),
    ("completions", {"prompt": "unknown"}, "64"),  # the model has 0 to 63
    ("chat/completions", {}, "messages must be a list of messages"),
    ("chat/completions", {"messages": [{"role": "user"}]}, "message number 0"),
    ("chat/completions", {"messages": [{"role": "user", "content": [
        {"type": "image_url"}]}]}, "message number 0 must have a role and a"),
    ("chat/completions", {"messages": [{"role": "tool", "content": "a"}]},
     "refuses the messages: no tools"),
    ("embeddings", {"input": "a"}, "decoder is for completions but the request "
     "is for embeddings"),
])
def test_refusals(server, path, body, why):
    status, answer = server.ask(f"/v1/{path}", {"model": "decoder", **body})
    assert status in (400, 413) and why in answer["error"]["message"]


class Letters:
    """A tokenizer of bytes."""

    def decode(self, ids, skip_special_tokens):
        return bytes(ids).decode("utf-8", "replace")


def prose(text, *stops, prompt=b"say: "):
    from mille.serving.prose import Prose
    made, parts = Prose(Letters(), prompt, stops), []
    for id in text.encode():
        parts.append(made.add(id))
        if made.stopped:
            return parts
    return parts + [made.rest()]


def test_prose():
    assert "".join(prose("a ü€😀b")) == "a ü€😀b"
    assert all("\ufffd" not in part for part in prose("ü€😀"))
    assert prose("ab", "bc") == ["a", "", "b"]  # b may have been a stop
    assert "".join(prose("one END two", "END")) == "one "
    assert "".join(prose("aaab rest", "aab")) == "a"
    assert "".join(prose("x\n\ny", "\n\n", "y")) == "x"
    cut = prose("ü")[:1]
    assert cut == [""]


def test_a_client_that_leaves_its_stream():
    """The log says so, and its text goes no further."""
    from mille.serving.answers import Answer
    from mille.serving.completions import Completions, Form
    noted = []
    count = types.SimpleNamespace(inc=lambda tokens: None)
    owner = types.SimpleNamespace(
        options=None, note=lambda request, status, seconds: noted.append(status),
        metrics=types.SimpleNamespace(
            tokens=types.SimpleNamespace(labels=lambda name: count)))
    model = types.SimpleNamespace(name="letters", tokenizer=Letters())
    request = types.SimpleNamespace(state=types.SimpleNamespace(facts=""))

    async def leave():
        answer = Answer(model, [1], 9, {}, [])
        stream = Completions(owner).stream(request, model, [answer],
                                           Form(False, "letters"), 0)
        answer.said.put_nowait(ord("a"))
        assert '"text": "a"' in await stream.__anext__()
        assert not answer.line.gone
        await stream.aclose()
        return answer.line.gone

    assert asyncio.run(leave()) and noted == [499]


class Endless:
    """A generation of one sequence that never ends by itself."""

    def __init__(self):
        self.held = set()

    def open(self):
        assert not self.held
        self.held.add(1)
        return 1

    def close(self, sequence):
        self.held.remove(sequence)

    def append(self, sequence, ids):
        assert sequence in self.held

    def decode(self):
        pass

    def sample(self, sequence):
        return 7


def test_a_text_that_nobody_reads_makes_room():
    from mille.serving.writer import Line, Writer
    made, said, unread, begun = Endless(), [], [], threading.Event()
    writer = Writer(made, 1, [], 4)
    first = Line([1], 10 ** 5, {},
                 lambda what: (unread.append(what), begun.set()))
    writer.submit(first)
    assert begun.wait(30)
    writer.submit(Line([1], 3, {}, said.append))
    first.gone = True
    writer.close()
    assert said == [7, 7, 7, "length"] and not made.held
    assert unread[-1] == "stop" and len(unread) < 10 ** 5


def test_a_message_in_parts():
    """Its content in parts is one text."""
    from mille.serving.completions import messages_of
    from mille.serving.refusals import Refused
    part = {"type": "text", "text": "w7"}
    said = {"role": "user", "content": [part, {**part, "text": " w9"}]}
    assert messages_of({"messages": [said]}) == [
        {"role": "user", "content": "w7 w9"}]
    for wrong in ([], ["w7"], [part, {"type": "image_url"}], [{**part,
                  "text": 7}], 7, None):
        with pytest.raises(Refused, match="message number 1 must have a role"):
            messages_of({"messages": [said, {**said, "content": wrong}]})
