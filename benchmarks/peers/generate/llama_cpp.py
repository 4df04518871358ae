"""llama.cpp: the file as it is, its cache in f16, the rest as it chooses itself. It makes
the files of one type of all GGUF peers, too."""
import ctypes
import os
import time

import llama_cpp

from peers import Refused

VERSION = "of llama-cpp-python " + llama_cpp.__version__
FILES = {"f32": "ALL_F32", "f16": "MOSTLY_F16", "bf16": "MOSTLY_BF16",
         "q8_0": "MOSTLY_Q8_0", "q4_0": "MOSTLY_Q4_0", "q4_1": "MOSTLY_Q4_1",
         "q5_0": "MOSTLY_Q5_0", "q4_k": "MOSTLY_Q4_K_S", "q6_k": "MOSTLY_Q6_K"}


@llama_cpp.llama_log_callback
def log(level, text, _):
    """Silent."""


llama_cpp.llama_log_set(log, None)
llama_cpp.llama_backend_init()


def make_file(model, dtype, work):
    """The model's file with all matrices in this type; those whose rows are no multiple
    of a block are of the type that llama.cpp takes in its place."""
    if dtype == "stored":
        return model
    if dtype not in FILES:
        raise Refused("GGUF has no " + dtype)
    made = os.path.join(work, "%s.gguf" % dtype)
    if not os.path.exists(made):
        how = llama_cpp.llama_model_quantize_default_params()
        how.ftype = getattr(llama_cpp, "LLAMA_FTYPE_" + FILES[dtype])
        how.allow_requantize = how.pure = True
        part = made + ".part"
        if llama_cpp.llama_model_quantize(model.encode(), part.encode(),
                                          ctypes.byref(how)):
            raise Refused("llama.cpp makes no file of " + dtype)
        os.rename(part, made)
    return made


def load(path):
    model = llama_cpp.llama_model_load_from_file(
        path.encode(), llama_cpp.llama_model_default_params())
    if not model:
        raise Refused("it cannot load " + path)
    return model


def sizes(path):
    """Bytes of the file's tensors, and numbers that a token leaves in the cache."""
    model = load(path)
    heads = llama_cpp.llama_model_n_head(model)
    width = llama_cpp.llama_model_n_embd(model) // heads
    found = {"weights": llama_cpp.llama_model_size(model),
             "numbers": 2 * llama_cpp.llama_model_n_layer(model) * width *
             llama_cpp.llama_model_n_head_kv(model)}
    llama_cpp.llama_model_free(model)
    return found


def prepare(case):
    return case["file"]


class Peer:
    def __init__(self, case, made):
        self.model = load(made)
        how = llama_cpp.llama_context_default_params()
        how.n_ctx, how.n_batch, how.n_ubatch = case["room"], case["room"], 512
        how.n_threads = how.n_threads_batch = case["threads"]
        self.context = llama_cpp.llama_init_from_model(self.model, how)
        if not self.context:
            raise Refused("it cannot make a context of %d tokens" % case["room"])

    def feed(self, ids):
        array = (ctypes.c_int32 * len(ids))(*ids)  # the batch has its address
        if llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(
                array, len(ids))):
            raise Refused("it does not decode")
        llama_cpp.llama_get_logits_ith(self.context, -1)

    def run(self, ids, tokens):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        began = time.perf_counter()
        self.feed(ids)
        middle = time.perf_counter()
        for token in range(tokens):
            self.feed([ids[token % len(ids)]])
        return middle - began, (time.perf_counter() - middle) / max(tokens, 1)
