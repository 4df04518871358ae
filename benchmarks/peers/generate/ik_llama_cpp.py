"""ik_llama.cpp: flash attention; q4_0 and q4_k repacked at load, in large pages, which
gain there (other types lose)."""
import importlib.metadata
import time

from ik_llama_cpp import _ctypes_api as llama

from peers import Refused

VERSION = importlib.metadata.version("ik-llama-cpp-python")
llama.llama_backend_init()


def prepare(case):
    return case["file"]


class Peer:
    def __init__(self, case, made):
        how = llama.llama_model_default_params()
        repack = case["dtype"] in ("q4_0", "q4_k")
        how.repack_tensors = how.use_thp = repack
        how.use_mmap = not repack
        self.model = llama.llama_model_load_from_file(made.encode(), how)
        if not self.model:
            raise Refused("it cannot load " + made)
        how = llama.llama_context_default_params()
        how.n_ctx, how.n_batch, how.n_ubatch = case["room"], case["room"], 512
        how.n_threads = how.n_threads_batch = case["threads"]
        how.flash_attn = True
        self.context = llama.llama_init_from_model(self.model, how)
        self.batch = llama.llama_batch_init(case["room"], 0, 1)

    def feed(self, ids, at):
        batch = self.batch
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, at + i, 1
            batch.seq_id[i][0], batch.logits[i] = 0, i == len(ids) - 1
        if llama.llama_decode(self.context, batch):
            raise Refused("it does not decode")
        llama.llama_get_logits_ith(self.context, len(ids) - 1)

    def run(self, ids, tokens):
        llama.llama_kv_cache_clear(self.context)
        began = time.perf_counter()
        self.feed(ids, 0)
        middle = time.perf_counter()
        for token in range(tokens):
            self.feed([ids[token % len(ids)]], len(ids) + token)
        return middle - began, (time.perf_counter() - middle) / max(tokens, 1)
