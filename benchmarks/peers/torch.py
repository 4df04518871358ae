"""PyTorch, eager or compiled (inductor, weights frozen), on the CPU or on a GPU; int8
by its dynamic quantisation of linears, eager and on the CPU only."""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as functional

from peers import Refused, read_integers

VERSION = torch.__version__.split("+")[0]


def tensor(array):
    return torch.from_numpy(np.array(array))


def linear(pair):
    module = nn.Linear(pair[0].shape[1], pair[0].shape[0])
    module.weight = nn.Parameter(tensor(pair[0]), requires_grad=False)
    module.bias = nn.Parameter(tensor(pair[1]), requires_grad=False)
    return module


def layer_norm(pair, eps):
    module = nn.LayerNorm(pair[0].shape[0], eps)
    module.weight = nn.Parameter(tensor(pair[0]), requires_grad=False)
    module.bias = nn.Parameter(tensor(pair[1]), requires_grad=False)
    return module


class Layer(nn.Module):
    def __init__(self, weights, encoder):
        super().__init__()
        for name in ["query", "key", "value", "out", "up", "down"]:
            setattr(self, name, linear(weights[name]))
        for name in ["attention_norm", "ffn_norm"]:
            setattr(self, name, layer_norm(weights[name], encoder.eps))
        self.heads, self.alpha = encoder.heads, encoder.alpha

    def skipped(self, x):
        return x if self.alpha == 1 else x * self.alpha

    def forward(self, x, mask):
        batch, tokens, hidden = x.shape

        def head(part):
            return part.view(batch, tokens, self.heads, -1).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(
            head(self.query(x)), head(self.key(x)), head(self.value(x)), mask)
        mixed = mixed.transpose(1, 2).reshape(batch, tokens, hidden)
        x = self.attention_norm(self.skipped(x) + self.out(mixed))
        branch = self.down(functional.gelu(self.up(x)))
        return self.ffn_norm(self.skipped(x) + branch)


class Model(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.words = nn.Parameter(tensor(encoder.words), requires_grad=False)
        self.positions = self.norm = None
        if encoder.positions is not None:
            self.positions = nn.Parameter(tensor(encoder.positions),
                                          requires_grad=False)
            self.norm = layer_norm(encoder.norm, encoder.eps)
        self.layers = nn.ModuleList(Layer(encoder.layer(index), encoder)
                                    for index in range(encoder.layers))

    def forward(self, ids, mask):
        x = functional.embedding(ids, self.words)
        if self.positions is not None:
            x = self.norm(x + self.positions[:ids.shape[1]])
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Peer:
    def __init__(self, case, encoder):
        torch.set_num_threads(case["threads"])
        torch.set_grad_enabled(False)
        compiled = "compile" in case["variant"]
        place = "cuda" if "GPU" in case["variant"] else "cpu"
        if place == "cuda" and not torch.cuda.is_available():
            raise Refused("torch sees no GPU")
        if compiled and encoder().layers > 24:
            raise Refused("it compiles each layer of the graph, minutes for %d"
                          % encoder().layers)
        model = Model(encoder()).eval()
        if case["dtype"] == "bf16":
            model = model.bfloat16()
        elif case["dtype"] == "int8":
            if compiled or place == "cuda":
                raise Refused("its dynamic quantisation is of the eager mode on CPUs")
            model = torch.ao.quantization.quantize_dynamic(
                model, {nn.Linear}, dtype=torch.qint8)
        self.model = model = model.to(place)
        if compiled:
            # Keeps it, so that a later run only loads it.
            os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR",
                                  os.path.join(case["work"], "inductor"))
            import torch._inductor.config as inductor
            inductor.freezing = True
            self.model = torch.compile(model, dynamic=False)
        self.place = place
        self.device = torch.cuda.get_device_name() if place == "cuda" else None
        self.ids = torch.from_numpy(read_integers(case, "ids", np.int64))
        self.mask = None
        if case["mask"] is not None:
            mask = read_integers(case, "mask", bool)
            self.mask = torch.from_numpy(mask)[:, None, None, :]

    def run(self):
        """Like Mille's run: from the host's memory to the host's memory."""
        mask = None if self.mask is None else self.mask.to(self.place)
        self.result = self.model(self.ids.to(self.place), mask).cpu()

    def output(self):
        return self.result.float().numpy().tobytes()
