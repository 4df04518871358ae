"""mistral.rs: the GGUF; its interface takes texts, so words that are a token each; the
seconds are of its own counters."""
import importlib.metadata
import os

import mistralrs

from peers import Refused

VERSION = importlib.metadata.version("mistralrs")
WORDS = ["time", "people", "water", "world", "house", "city", "day", "year"]


def prepare(case):
    return os.path.abspath(case["file"])


class Peer:
    def __init__(self, case, made):
        folder, name = os.path.split(made)
        try:
            self.runner = mistralrs.Runner(
                which=mistralrs.Which.GGUF(quantized_model_id=folder,
                                           quantized_filename=name),
                prefix_cache_n=0)
        except Exception as error:  # its own classes
            raise Refused(str(error).strip().splitlines()[0])

    def run(self, ids, tokens):
        prompt = "".join(" " + WORDS[token % len(WORDS)] for token in ids)
        usage = self.runner.send_completion_request(mistralrs.CompletionRequest(
            model="default", prompt=prompt, max_tokens=tokens + 1, temperature=0,
            stop_seqs=None)).usage
        if abs(usage.prompt_tokens - len(ids)) > 1:  # one that begins all texts
            raise Refused("it makes %d tokens of %d words"
                          % (usage.prompt_tokens, len(ids)))
        return (usage.prompt_tokens / usage.avg_prompt_tok_per_sec,
                1 / usage.avg_compl_tok_per_sec if tokens else 0)
