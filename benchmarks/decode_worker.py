"""A peer of decode.py in a process of its own, in a Python that has it:

  decode_worker.py make MODEL DTYPE WORK     makes the file of a type, by llama.cpp
  decode_worker.py PEER CASE [IDS]           CASE in JSON, as peers/generate says

Says in a line of JSON that it is ready (or refuses, with the reason), then for each line
{"ids": [...], "tokens": N} the seconds. With IDS it is one that starts, makes a first
token and ends. What libraries print goes to the error output.
"""
import importlib
import json
import os
import sys
import time

from peers import Refused


def make(model, dtype, work):
    from peers.generate import llama_cpp
    path = llama_cpp.make_file(model, dtype, work)
    return {"file": path, **llama_cpp.sizes(path)}


def serve(name, case, first, say):
    peer = importlib.import_module("peers.generate." + name)
    made = peer.prepare(case)
    began = time.perf_counter()
    loaded = peer.Peer(case, made)
    if first is not None:
        loaded.run(first, 0)
        return say({"loaded": time.perf_counter() - began})
    say({"version": peer.VERSION})
    for line in sys.stdin:
        asked = json.loads(line)
        prompt, token = loaded.run(asked["ids"], asked["tokens"])
        say({"prompt": prompt, "token": token})


def main():
    mine = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(what):
        print(json.dumps(what), file=mine, flush=True)

    try:
        if sys.argv[1] == "make":
            say(make(*sys.argv[2:]))
        else:
            first = json.loads(sys.argv[3]) if len(sys.argv) > 3 else None
            serve(sys.argv[1], json.loads(sys.argv[2]), first, say)
    except ModuleNotFoundError as error:
        say({"refused": "not installed: %s" % error, "absent": True})
    except Refused as error:
        say({"refused": str(error)})


if __name__ == "__main__":
    main()
