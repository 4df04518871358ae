"""llama.cpp: its own BERT, from a GGUF file that is written here; BERT folders only.
f32 and bf16 are the types of the weights. int8 is its 8 bits, Q8_0: weights in blocks of
32 with a scale in f16 each, activations alike while it runs. Its Python package is
built from source (setup.sh)."""
import os

import llama_cpp
import numpy as np

from peers import Refused, read_integers

VERSION = "of llama-cpp-python " + llama_cpp.__version__
TYPES = {"f32": "F32", "bf16": "BF16", "int8": "Q8_0"}
# Encoder's names -> the file's
LAYER = {"query": "attn_q", "key": "attn_k", "value": "attn_v", "out": "attn_output",
         "attention_norm": "attn_output_norm", "up": "ffn_up", "down": "ffn_down",
         "ffn_norm": "layer_output_norm"}
ERROR = 3  # GGML_LOG_LEVEL_ERROR
errors = []


@llama_cpp.llama_log_callback
def log(level, text, _):
    """Silent; an error is kept for whom it stops."""
    if level == ERROR:
        errors.append(text.decode(errors="replace").strip())


llama_cpp.llama_log_set(log, None)
llama_cpp.llama_backend_init()


def stopped(what):
    return Refused("%s: %s" % (what, errors[-1] if errors else "no reason is given"))


def prepare(case, encoder):
    """The path of the GGUF file."""
    path = os.path.join(case["work"], "llama-%s.gguf" % case["dtype"])
    if not os.path.isdir(case["model"]):
        raise Refused("its BERT has no scale of the residual stream")
    if not os.path.exists(path):
        write_model(encoder(), TYPES[case["dtype"]], path + ".part")
        os.rename(path + ".part", path)
    return path


def write_model(encoder, type_name, path):
    import gguf
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_vocab_size(encoder.vocabulary)
    writer.add_tokenizer_model("no_vocab")
    writer.add_token_type_count(1)  # token type 0 is part of the positions
    writer.add_context_length(len(encoder.positions))
    writer.add_embedding_length(encoder.hidden)
    writer.add_feed_forward_length(len(encoder.layer(0)["up"][1]))
    writer.add_block_count(encoder.layers)
    writer.add_head_count(encoder.heads)
    writer.add_layer_norm_eps(encoder.eps)
    writer.add_causal_attention(False)
    add_tensors(writer, encoder, gguf.GGMLQuantizationType[type_name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_tensors(writer, encoder, kind):
    """Matrices in `kind`; biases, norms and positions in f32, as its own converter."""
    from gguf.quants import quantize

    def matrix(name, weight):
        writer.add_tensor(name, quantize(weight, kind), raw_dtype=kind)

    def pair(name, weight, bias):
        add = matrix if weight.ndim == 2 else writer.add_tensor
        add(name + ".weight", weight)
        writer.add_tensor(name + ".bias", bias)

    matrix("token_embd.weight", encoder.words)
    writer.add_tensor("position_embd.weight", encoder.positions)
    pair("token_embd_norm", *encoder.norm)
    for index in range(encoder.layers):
        for name, values in encoder.layer(index).items():
            pair("blk.%d.%s" % (index, LAYER[name]), *values)


def batch_of(ids, present):
    """All sequences at once, each of its own tokens only."""
    rows, columns = np.nonzero(present)
    batch = llama_cpp.llama_batch_init(len(rows), 0, 1)
    batch.n_tokens = len(rows)
    for index, (row, column) in enumerate(zip(rows, columns)):
        batch.token[index] = ids[row, column]
        batch.pos[index] = column
        batch.n_seq_id[index] = 1
        batch.seq_id[index][0] = row
        batch.logits[index] = 1
    return batch


class Peer:
    differs_in = ("its GELU is the approximation by tanh, from a table of f16; "
                  "attention takes keys and values in f16")

    def __init__(self, case, encoder):
        self.model = self.context = self.batch = None
        errors.clear()
        path, ids = prepare(case, encoder), read_integers(case, "ids", np.int32)
        self.present = np.ones(ids.shape, bool) if case["mask"] is None else \
            read_integers(case, "mask", bool)
        options = llama_cpp.llama_model_default_params()
        options.n_gpu_layers = 0
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), options)
        if not self.model:
            raise stopped("it cannot load its model")
        self.context = llama_cpp.llama_init_from_model(
            self.model, context_options(case["threads"], *ids.shape))
        if not self.context:
            raise stopped("it cannot make a context")
        self.batch = batch_of(ids, self.present)
        self.hidden = llama_cpp.llama_model_n_embd(self.model)

    def run(self):
        if llama_cpp.llama_encode(self.context, self.batch):
            raise stopped("it cannot encode")
        self.result = llama_cpp.llama_get_embeddings(self.context)

    def output(self):
        """Zeros where there is padding."""
        padded = np.zeros(self.present.shape + (self.hidden,), np.float32)
        padded[self.present] = np.ctypeslib.as_array(
            self.result, (self.batch.n_tokens, self.hidden))
        return padded.tobytes()

    def __del__(self):
        if self.batch:
            llama_cpp.llama_batch_free(self.batch)
        if self.context:
            llama_cpp.llama_free(self.context)
        if self.model:
            llama_cpp.llama_model_free(self.model)


def context_options(threads, batch, tokens):
    options = llama_cpp.llama_context_default_params()
    # An encoder takes everything in one piece.
    options.n_ctx = options.n_batch = options.n_ubatch = batch * tokens
    options.n_seq_max = batch
    options.n_threads = options.n_threads_batch = threads
    options.embeddings = True
    options.pooling_type = llama_cpp.LLAMA_POOLING_TYPE_NONE
    options.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_AUTO
    return options
