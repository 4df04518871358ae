"""Texts of `mille serve` a second beside those of Encoder.encode, in turn.

  python benchmarks/serve.py MODEL --clients=64 --texts=1000

Each client sends one text at a time on a connection of its own. Both have the
same threads; the clients share the cores with the server."""
import argparse
import concurrent.futures
import http.client
import json
import random
import re
import subprocess
import sys
import threading
import time

import mille


def texts_of(count):
    """Texts of 4 to 256 tokens, about."""
    draw = random.Random(1)
    words = ["the", "a", "house", "river", "light", "reads", "goes", "with",
             "people", "small", "of", "answer", "time", "and", "city"]
    return [" ".join(draw.choices(words, k=draw.randint(2, 254)))
            for _ in range(count)]


def clients(port, texts, count):
    """Seconds until every text has its answer."""
    local = threading.local()

    def one(text):
        if not hasattr(local, "own"):
            local.own = http.client.HTTPConnection("127.0.0.1", port)
        local.own.request("POST", "/v1/embeddings", json.dumps(
            {"model": "model", "input": text, "encoding_format": "base64"}))
        answer = local.own.getresponse()
        answer.read()
        assert answer.status == 200, answer.status

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        begin = time.perf_counter()
        list(pool.map(one, texts))
        return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    texts = texts_of(options.texts)
    encoder = mille.Encoder(options.model, threads=options.threads)
    server = subprocess.Popen(
        [sys.executable, "-m", "mille", "serve", f"model={options.model}",
         "--port=0", "--quiet", f"--threads={options.threads}"],
        stderr=subprocess.PIPE, text=True)
    port = int(re.search(r":(\d+) has", server.stderr.readline())[1])
    try:
        shares = []
        for _ in range(options.rounds):
            begin = time.perf_counter()
            encoder.encode(texts)
            own = time.perf_counter() - begin
            served = clients(port, texts, options.clients)
            shares.append(own / served)
            print(f"encode {own:.2f} s, {options.clients} clients "
                  f"{served:.2f} s: {own / served:.0%}", flush=True)
        print(f"median {sorted(shares)[len(shares) // 2]:.0%}")
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
