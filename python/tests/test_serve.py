"""`mille serve` on loopback. MILLE: the command. SOAK: requests of the load
test, which is short without."""
import base64
import concurrent.futures
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from test_text import ids
from tiny import WORDS, bert, own_cache, sentences

import mille

pytest.importorskip("uvicorn")
KEY = "the key"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MILLE_COMPILER", os.environ["MILLE"])
        patch.setenv("XDG_CACHE_HOME",
                     str(own_cache(tmp_path_factory.mktemp("serve"))))
        yield


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    models = tmp_path_factory.mktemp("models")
    return (sentences(bert(models / "vectors"),
                      {"pooling_mode_mean_tokens": True}, normalize=True),
            bert(models / "scores", labels=1))


class Server:
    """A process of `mille serve`."""

    def __init__(self, *words):
        self.lines = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mille", "serve", "--port=0", *words],
            stderr=subprocess.PIPE, text=True)
        said = self.process.stderr.readline()
        found = re.match(r"mille serve: http://127.0.0.1:(\d+) has ", said)
        assert found, said + self.process.stderr.read()
        self.port = int(found[1])
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip())

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, path, body=None, key=KEY, connection=None, method=None):
        """(status, JSON or text)."""
        connection = connection or self.connect()
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection.request(method or ("GET" if body is None else "POST"), path,
                           body, {"Authorization": f"Bearer {key}"})
        answer = connection.getresponse()
        read = answer.read()
        is_json = answer.headers["content-type"] == "application/json"
        return answer.status, json.loads(read) if is_json else read.decode()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@pytest.fixture(scope="module")
def server(folders):
    made = Server(*map(str, folders), f"--api-key={KEY}", "--threads=2",
                  "--max-texts=500", "--max-bytes=100000", "--batch=8")
    yield made
    made.stop()


def vectors_of(answer):
    assert [one["index"] for one in answer["data"]] == \
        list(range(len(answer["data"])))
    return np.array([one["embedding"] for one in answer["data"]], np.float32)


def test_embeddings(server, folders):
    texts = [" ".join(WORDS[4:4 + n]) for n in (1, 5, 3)]
    wanted = mille.Encoder(folders[0]).encode(texts)
    status, answer = server.ask("/v1/embeddings",
                                {"model": "vectors", "input": texts})
    assert status == 200 and np.array_equal(vectors_of(answer), wanted)
    assert answer["usage"] == {"prompt_tokens": 9 + 6, "total_tokens": 15}
    status, answer = server.ask("/v1/embeddings", {
        "model": "vectors", "input": texts[1], "encoding_format": "base64"})
    one = base64.b64decode(answer["data"][0]["embedding"])
    assert np.array_equal(np.frombuffer(one, np.float32), wanted[1])
    short = mille.Encoder(folders[0]).encode(texts, truncate_dim=5,
                                             normalize_embeddings=True)
    for form, read in (("float", lambda one: one), ("base64", lambda one:
                       np.frombuffer(base64.b64decode(one), np.float32))):
        status, answer = server.ask("/v1/embeddings", {
            "model": "vectors", "input": texts, "dimensions": 5,
            "encoding_format": form})
        assert status == 200 and np.array_equal(short, np.array(
            [read(one["embedding"]) for one in answer["data"]], np.float32))
    for given, rows in ([ids(text) for text in texts], wanted), \
            (ids(texts[1]), wanted[1:2]):  # as they are
        status, answer = server.ask("/v1/embeddings",
                                    {"model": "vectors", "input": given})
        assert status == 200 and np.array_equal(vectors_of(answer), rows)
    assert answer["usage"]["prompt_tokens"] == 7


def test_the_client_of_openai(server, folders):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(api_key=KEY,
                           base_url=f"http://127.0.0.1:{server.port}/v1")
    assert [model.id for model in client.models.list()] == ["vectors", "scores"]
    assert client.models.retrieve("vectors").id == "vectors"
    wanted = mille.Encoder(folders[0]).encode(WORDS[5:8])
    for form in ({}, {"encoding_format": "float"}):
        got = client.embeddings.create(model="vectors", input=WORDS[5:8],
                                       **form)
        assert np.array_equal(
            np.array([one.embedding for one in got.data], np.float32), wanted)
    with pytest.raises(openai.NotFoundError, match="no model 'gpt' but vec"):
        client.embeddings.create(model="gpt", input="a")
    with pytest.raises(openai.AuthenticationError, match="API key"):
        client.with_options(api_key="no").models.list()


def test_rerank(server, folders):
    documents = [" ".join(WORDS[4 + n:8 + n]) for n in (3, 0, 2, 1)]
    query = WORDS[6]
    wanted = mille.CrossEncoder(folders[1]).rank(query, documents)
    for path in ("/rerank", "/v1/rerank", "/v2/rerank"):
        status, answer = server.ask(path, {"model": "scores", "query": query,
                                           "documents": documents})
        assert status == 200 and [
            (one["index"], np.float32(one["relevance_score"]))
            for one in answer["results"]] == [
                (one["corpus_id"], one["score"]) for one in wanted]
    status, answer = server.ask("/rerank", {
        "model": "scores", "query": query, "top_n": 1, "return_documents": True,
        "documents": [{"text": text} for text in documents]})
    best, = answer["results"]
    assert best["document"] == {"text": documents[wanted[0]["corpus_id"]]}


@pytest.mark.parametrize("path, body, status, why", [
    ("/v1/embeddings", b'{"model": ', 400, "the request is no JSON: Expec"),
    ("/v1/embeddings", b"[" * 50000, 400, "the request is no JSON"),
    ("/v1/embeddings", b"\xff\xfe\x00", 400, "the request is no JSON"),
    ("/v1/embeddings", [], 400, "must be a JSON object but is a list"),
    ("/v1/embeddings", {"input": "a"}, 400, "one of vectors, scores"),
    ("/v1/embeddings", {"model": "vectors", "input": [5, 13]}, 400, "number 0 "
     "has the id 13 but the ids of vectors are below 13"),
    ("/v1/embeddings", {"model": "vectors", "input": [[5], 5]}, 400, "number 1 "
     "is no list of whole numbers from 0"),
    ("/v1/embeddings", {"model": "no", "input": "a"}, 404, "no model 'no'"),
    ("/v1/embeddings", {"model": "scores", "input": "a"}, 400,
     "the model scores is for rerank but the request is for embeddings"),
    ("/v1/embeddings", {"model": "vectors"}, 400, "a text or a list of texts"),
    ("/v1/embeddings", {"model": "vectors", "input": []}, 400, "list of texts"),
    ("/v1/embeddings", {"model": "vectors", "input": ["a", 3]}, 400,
     "input must be texts but number 1 is a int"),
    ("/v1/embeddings", {"model": "vectors", "input": "\ud800"}, 400,
     "half of a surrogate pair"),
    ("/v1/embeddings", {"model": "vectors", "input": ["a"] * 501}, 413,
     "input has 501 texts but may have 500"),
    ("/v1/embeddings", {"model": "vectors", "input": "a " * 60000}, 413,
     "more than 100000 bytes"),
    ("/v1/embeddings", {"model": "vectors", "input": "a",
                        "encoding_format": "hex"}, 400, "'hex' but must be"),
    ("/v1/embeddings", {"model": "vectors", "input": "a", "dimensions": 17},
     400, "dimensions is 17 but must be a whole number from 1 to 16"),
    ("/rerank", {"model": "scores", "query": 3, "documents": ["a"]}, 400,
     "query must be texts but number 0 is a int"),
    ("/rerank", {"model": "scores", "query": "a", "documents": [{}]}, 400,
     "documents must be texts but number 0 is a NoneType"),
    ("/rerank", {"model": "scores", "query": "a", "documents": ["a"],
                 "top_n": 0}, 400, "top_n is 0 but must be"),
    ("/v1/models/no", None, 404, "no model 'no'"),
    ("/v2", None, 404, "there is no such path: /v2"),
    ("/rerank", None, 405, "/rerank takes no GET"),
])
def test_refusals(server, path, body, status, why):
    got, answer = server.ask(path, body)
    assert got == status and why in answer["error"]["message"]
    assert answer["error"]["code"] == status


def test_key_health_and_metrics(server):
    got, answer = server.ask("/v1/models", key="no")
    assert got == 401 and "API key" in answer["error"]["message"]
    assert server.ask("/health", key="") == (200, {"status": "ok"})
    server.ask("/v1/embeddings", {"model": "vectors", "input": WORDS[5]})
    got, text = server.ask("/metrics", key="")
    assert got == 200
    assert re.search(r'mille_requests_total\{path="/v1/models",status="401"\} ',
                     text)
    assert re.search(r'mille_tokens_total\{model="vectors"\} [1-9]', text)
    assert 'mille_waiting_texts{model="vectors"} 0.0' in text
    deadline = time.monotonic() + 10
    while not (found := [line for line in server.lines
                         if "/v1/models 401" in line]):
        assert time.monotonic() < deadline, server.lines
        time.sleep(0.01)
    assert re.fullmatch(r"127.0.0.1 GET /v1/models 401 [\d.]+ ms", found[0])
    assert any(re.search(r" POST /v1/embeddings 200 .* vectors texts=\d+ "
                         r"tokens=\d+$", line) for line in server.lines)


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1])


def test_load(server, folders):
    """Answers under load are those of one request alone, bit by bit."""
    texts = [" ".join(WORDS[4 + i % 7:6 + i % 7 + i % 5]) for i in range(35)]
    wanted = mille.Encoder(folders[0]).encode(texts)
    count = int(os.environ.get("SOAK", 400))
    local = threading.local()

    def one(i):
        local.own = getattr(local, "own", None) or server.connect()
        status, answer = server.ask(
            "/v1/embeddings", {"model": "vectors", "input": texts[i % 35]},
            connection=local.own)
        return status == 200 and np.array_equal(vectors_of(answer)[0],
                                                wanted[i % 35])

    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        assert all(pool.map(one, range(count // 2)))
        before = resident(server.process.pid)
        assert all(pool.map(one, range(count - count // 2)))
    assert resident(server.process.pid) < before * 1.05 + 2048
    _, text = server.ask("/metrics")
    batches = re.search(r'mille_batches\{model="vectors"\} ([\d.]+)', text)
    assert float(batches[1]) < count  # some were joined


def test_ten_megabytes_of_text(folders):
    """Refused with a sentence, which a client that sends it all can read."""
    server = Server(str(folders[0]))
    try:
        status, answer = server.ask("/v1/embeddings", {
            "model": "vectors", "input": "red " * 2_500_000})
        assert status == 413 and "bytes" in answer["error"]["message"]
        assert server.ask("/health") == (200, {"status": "ok"})
    finally:
        server.stop()


def test_shutdown_answers_what_waits(folders):
    server = Server(str(folders[0]), "--batch=1", "--quiet")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        asked = pool.submit(server.ask, "/v1/embeddings",
                            {"model": "vectors", "input": ["a b"] * 2000})
        waits = r'mille_waiting_texts\{model="vectors"\} [1-9]'
        while not re.search(waits, server.ask("/metrics")[1]):
            assert not asked.done()
        server.stop()
        status, answer = asked.result()
    assert status == 200 and len(answer["data"]) == 2000


@pytest.mark.parametrize("words, status, why", [
    ([], 2, "required: "),
    (["/nowhere"], 1, "mille serve: /nowhere is no folder"),
    (["{0}", "/nowhere"], 1, "mille serve: /nowhere is no folder"),
    (["{0}", "--batch=0"], 2, "0 must be at least 1"),
    (["{0}", "{0}"], 1, "two models have the name vectors: give NAME=DIR"),
    (["{0}", "--host=256.0.0.1"], 3, "mille serve: 256.0.0.1 port 8000: "),
])
def test_command_line(folders, words, status, why):
    done = subprocess.run(
        [sys.executable, "-m", "mille", "serve",
         *(word.format(*folders) for word in words)],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == status and why in done.stderr, done.stderr
    assert "leaked" not in done.stderr
