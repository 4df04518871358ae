"""A llama.cpp that PyPI has as a wheel (ik-llama-cpp-python), for scripts by hand."""
import numpy as np
from ik_llama_cpp import _ctypes_api as peer


class Model:
    def __init__(self, path):
        peer.llama_backend_init()
        self.model = peer.llama_model_load_from_file(
            path.encode(), peer.llama_model_default_params())
        self.words = peer.llama_vocab_n_tokens(peer.llama_model_get_vocab(self.model))

    def logits(self, ids):
        """[ids, vocabulary], in double."""
        params = peer.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_threads = 512, 512, 1
        context = peer.llama_init_from_model(self.model, params)
        batch = peer.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i] = token, i
            batch.n_seq_id[i], batch.logits[i] = 1, 1
            batch.seq_id[i][0] = 0
        assert peer.llama_decode(context, batch) == 0
        found = np.array([np.ctypeslib.as_array(
            peer.llama_get_logits_ith(context, i), (self.words,))
            for i in range(len(ids))], dtype=np.float64)
        peer.llama_batch_free(batch)
        peer.llama_free(context)
        return found
