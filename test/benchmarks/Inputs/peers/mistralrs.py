"""Stands for mistral.rs: each prompt takes a second, each token 10 ms. A file whose name has
`none` it does not load."""
from types import SimpleNamespace

CompletionRequest, Which = SimpleNamespace, SimpleNamespace(GGUF=SimpleNamespace)


class Runner:
    def __init__(self, which, prefix_cache_n):
        if "none" in which.quantized_filename:
            raise ValueError("no such file")

    def send_completion_request(self, request):
        count = len(request.prompt.split())
        return SimpleNamespace(usage=SimpleNamespace(
            prompt_tokens=count, avg_prompt_tok_per_sec=count,
            avg_compl_tok_per_sec=100))
