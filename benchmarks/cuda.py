#!/usr/bin/env python3
"""Whole models on a device of CUDA, beside PyTorch on the same device.

  cuda.py prepare DIR [--mille=build/bin/mille]   compiles; DIR is small enough to carry
  cuda.py run DIR [--device=cuda] [--no-peers]    a machine with the device, NumPy, torch

Weights are drawn where the models run: `prepare` keeps only the head of a weights file,
`run` fills the rest with normal numbers in bf16, which read as f32 are such numbers too (of fp8
they are any bytes).
So times mean something and results nothing: tools/check-cuda.sh compares those.
Each line has the median of a run's milliseconds, outputs staying on the device as
torch's do, and the share of the device's peak, a matrix product of 8192 by torch in bf16
in the same process.
"""
import argparse
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, os.pardir)
sys.path.insert(0, os.path.join(ROOT, "tools", "cuda"))
from on_device import (compile_package, fill, on_device, peaks, pinned, start_folder,
                       time_of)

BERT = {"architectures": ["BertModel"], "model_type": "bert", "hidden_size": 768,
        "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
        "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0}
GPT2 = {"architectures": ["GPT2Model"], "model_type": "gpt2", "n_embd": 768,
        "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257,
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}
LLAMA = {"architectures": ["LlamaModel"], "model_type": "llama", "hidden_size": 2048,
         "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8,
         "head_dim": 64, "intermediate_size": 8192, "vocab_size": 32000,
         "max_position_embeddings": 4096, "rms_norm_eps": 1e-5,
         "rope_theta": 500000.0, "hidden_act": "silu", "tie_word_embeddings": True}
# Llama-3.2-1B with its head: a step of one token reads all of its weights.
STEPS = {**LLAMA, "architectures": ["LlamaForCausalLM"], "vocab_size": 128256}
STEPS_NAME = "llama-1b-steps.bf16"
# batch, tokens that are held
STEP_WORK = [(1, 128), (1, 1024), (16, 128), (16, 1024)]
# name, config (a number: layers of a DeepNorm stack), dtype, batch, tokens
WORK = [("bert-base", BERT, "bf16", 1, 128), ("bert-base", BERT, "bf16", 32, 384),
        ("bert-base", BERT, "f32", 32, 384), ("gpt2", GPT2, "bf16", 8, 1024),
        ("llama-1b", LLAMA, "bf16", 4, 2048), ("deepnorm-12", 12, "bf16", 1, 64),
        ("deepnorm-1000", 1000, "bf16", 1, 64), ("bert-base", BERT, "fp8", 1, 128),
        ("bert-base", BERT, "fp8", 32, 384), ("llama-1b", LLAMA, "fp8", 4, 2048)]


def prepare(folder, mille, words):
    start_folder(folder)
    made = set()
    for name, config, dtype, _, _ in WORK:
        package = os.path.join(folder, name + "." + dtype)
        if package in made or words and not any(word in package for word in words):
            continue
        made.add(package)
        model = os.path.join(folder, name)
        if isinstance(config, int):
            import models
            model += ".json"
            with open(model, "w") as file:
                json.dump(models.deep_spec(config), file)
        else:
            os.makedirs(model, exist_ok=True)
            with open(os.path.join(model, "config.json"), "w") as file:
                json.dump(config, file)
        start = time.time()
        compile_package(mille, model, package, dtype)
        print(f"{name} in {dtype}: compiled in {time.time() - start:.1f} s")
    if not words or any(word in STEPS_NAME for word in words):
        prepare_steps(folder, mille)


def prepare_steps(folder, mille):
    """A package that continues sequences, for this and tools/cuda/generate.py."""
    package = os.path.join(folder, STEPS_NAME)
    model = package + ".model"
    os.makedirs(model, exist_ok=True)
    with open(os.path.join(model, "config.json"), "w") as file:
        json.dump(STEPS, file)
    compile_package(mille, model, package, "bf16", ["--entries=extend,next"])
    hidden, heads = STEPS["hidden_size"], STEPS["num_attention_heads"]
    keys = STEPS["num_key_value_heads"] * STEPS["head_dim"]
    layer = (2 * hidden * heads * STEPS["head_dim"] + 2 * hidden * keys
             + 3 * hidden * STEPS["intermediate_size"])
    numbers = STEPS["num_hidden_layers"] * layer + STEPS["vocab_size"] * hidden
    with open(os.path.join(package, "speed.json"), "w") as file:
        json.dump({"step_bytes": 2 * numbers}, file)


def flops(config, batch, tokens):
    """Of the products and attention, a multiply-add being two."""
    if isinstance(config, int):
        hidden, layers, inner = 256, config, 4 * 256 * 256 + 2 * 256 * 1024
    else:
        hidden = config.get("hidden_size") or config["n_embd"]
        layers = config.get("num_hidden_layers") or config["n_layer"]
        inner = 4 * hidden * hidden + 8 * hidden * hidden
        if config["model_type"] == "llama":
            inner = (2 * hidden * hidden + 2 * hidden * 512
                     + 3 * hidden * config["intermediate_size"])
    seen = tokens / 2 if not isinstance(config, int) and config[
        "model_type"] in ("gpt2", "llama") else tokens
    return 2 * batch * tokens * layers * (inner + 2 * hidden * seen)


def ours(folder, name, dtype, batch, tokens, device, profile):
    import numpy
    from package import Package, Session
    package_folder = os.path.join(folder, name + "." + dtype)
    fill(os.path.join(package_folder, "model.weights"))
    package = Package(os.path.join(folder, "libmille_loader.so"), package_folder)
    ids = numpy.random.default_rng(2).integers(5, 1000, (batch, tokens), "i4")
    values = {"input_ids": ids}
    sizes = package.sizes_of(values)
    session = Session(package, sizes, device)
    session.bind(values, sizes)
    to_host = time_of(session.run)
    session.bind(values, sizes, on_device)
    took = time_of(session.run)
    lines = []
    if profile:
        lines = [f"    {ms:8.4f} ms {calls:5.0f} calls {kernel}"
                 for ms, calls, kernel in session.profile(3)[:profile]]
    session.close()
    package.close()
    return took, to_host, lines


class DeepNorm:
    """The stack of models.deep_spec in torch: weights in bf16, the stream in f32."""

    def __init__(self, layers, hidden=256, inner=1024, heads=4):
        import torch
        self.heads, self.alpha = heads, (2.0 * layers) ** 0.25
        shapes = [(3 * hidden, hidden), (hidden, hidden), (inner, hidden),
                  (hidden, inner)]
        self.table = torch.randn(1024, hidden, device="cuda")
        self.layers = [[(0.02 * torch.randn(*shape, device="cuda").bfloat16(),
                         torch.zeros(shape[0], device="cuda").bfloat16())
                        for shape in shapes] for _ in range(layers)]
        self.norm = [torch.ones(hidden, device="cuda"),
                     torch.zeros(hidden, device="cuda")]

    def add(self, x, branch):
        from torch.nn.functional import layer_norm
        return layer_norm(self.alpha * x + branch, x.shape[-1:], *self.norm)

    def __call__(self, ids):
        import torch.nn.functional as F
        x = self.table[ids]
        for qkv, out, up, down in self.layers:
            heads = F.linear(x.bfloat16(), *qkv).unflatten(
                -1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            seen = F.scaled_dot_product_attention(*heads)
            x = self.add(x, F.linear(seen.transpose(1, 2).flatten(2), *out))
            x = self.add(x, F.linear(F.gelu(F.linear(x.bfloat16(), *up)), *down))
        return x


def deep_peer(layers, batch, tokens):
    """torch's stack as one CUDA graph: compiling 1000 layers takes torch.compile more
    than ten minutes, and a graph is what its mode reduce-overhead would replay."""
    import torch
    model = DeepNorm(layers)
    ids = torch.randint(5, 1000, (batch, tokens), device="cuda")
    with torch.inference_mode():
        model(ids)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(ids)

    def run():
        graph.replay()
        torch.cuda.synchronize()
    return time_of(run)


def peer(config, dtype, batch, tokens, compiled):
    import torch
    import transformers
    options = {key: value for key, value in config.items() if key != "architectures"}
    kind = options.pop("model_type")
    made = transformers.AutoConfig.for_model(kind, **options)
    made.use_cache = False
    torch.set_float32_matmul_precision("highest")
    number = torch.float32 if dtype == "f32" else torch.bfloat16
    model = transformers.AutoModel.from_config(made).to("cuda", number).eval()
    ids = torch.randint(5, 1000, (batch, tokens), device="cuda")
    if compiled:
        model = torch.compile(model, mode="reduce-overhead")

    def run():
        with torch.inference_mode():
            model(ids)
            torch.cuda.synchronize()
    return time_of(run)


class TorchSteps:
    """The Llama of STEPS in transformers, with a cache of a fixed size."""

    def __init__(self):
        import torch
        import transformers
        options = {key: value for key, value in STEPS.items()
                   if key != "architectures"}
        kind = options.pop("model_type")
        self.config = transformers.AutoConfig.for_model(kind, **options)
        self.config.dtype = torch.bfloat16
        with torch.device("cuda"):  # drawing its numbers on the host takes a minute
            made = transformers.AutoModelForCausalLM.from_config(self.config)
        self.model = made.to(torch.bfloat16).eval()

    def time(self, batch, context, compiled):
        """Milliseconds of one token more, its logits on the host."""
        import torch
        import transformers
        cache = transformers.StaticCache(config=self.config, max_cache_len=2048)
        ids = torch.full((batch, 1), 7, device="cuda")
        place = torch.tensor([context], device="cuda")
        step = self.model.forward

        def run():
            with torch.inference_mode():
                torch.compiler.cudagraph_mark_step_begin()
                out = step(input_ids=ids, past_key_values=cache,
                           cache_position=place, use_cache=True,
                           position_ids=place[None].expand(batch, 1))
                out.logits[:, -1].float().cpu()
        if compiled:
            run()  # makes the cache's tensors, which a graph may then write
            for layer in cache.layers:
                for value in vars(layer).values():
                    if isinstance(value, torch.Tensor):
                        torch._dynamo.mark_static_address(value)
            step = torch.compile(step, mode="reduce-overhead", dynamic=False)
        return time_of(run)


def run_steps(arguments, copy):
    """One token more of each sequence; its logits come to the host on both sides, ours to
    pinned memory."""
    import generate
    from package import Package
    name = STEPS_NAME
    if not os.path.exists(os.path.join(arguments.folder, name)):
        return
    fill(os.path.join(arguments.folder, name, "model.weights"))
    read = generate.weight_bytes(arguments.folder, name)
    package = Package(os.path.join(arguments.folder, "libmille_loader.so"),
                      os.path.join(arguments.folder, name))
    other = None if arguments.no_peers else TorchSteps()
    for batch, context in STEP_WORK:
        of = generate.Sequences(package, batch, 64, 2048, arguments.device)
        took = generate.step_time(of, batch, context, place=pinned)
        elsewhere = generate.step_time(of, batch, context)
        words = [f"{name} step of {batch} behind {context}: {took:.3f} ms, "
                 f"{read / took / 1e9:.2f} TB/s of weights, "
                 f"{read / took / copy:.1%} of a copy, logits to memory that is not "
                 f"pinned {elsewhere:.3f} ms"]
        lines = [f"    {ms:8.4f} ms {calls:5.0f} calls {kernel}" for ms, calls, kernel
                 in (of.session.profile(3)[:arguments.profile]
                     if arguments.profile else [])]
        of.close()
        for compiled in (False, True) if other else ():
            try:
                theirs = other.time(batch, context, compiled)
                words.append(("torch.compile" if compiled else "torch") +
                             f" {theirs:.3f} ms ({theirs / took:.2f}x)")
            except Exception as failure:  # a peer that cannot is said, no more
                words.append(f"torch refused: {str(failure)[:80]}")
        print(", ".join(words), *lines, sep="\n", flush=True)
    package.close()


def run(arguments):
    most, copy = peaks()
    for name, config, dtype, batch, tokens in WORK:
        label = f"{name} {dtype} {batch}x{tokens}"
        if arguments.words and not any(word in label for word in arguments.words):
            continue
        if not os.path.exists(os.path.join(arguments.folder, name + "." + dtype)):
            continue
        took, to_host, lines = ours(arguments.folder, name, dtype, batch, tokens,
                           arguments.device, arguments.profile)
        work = flops(config, batch, tokens)
        words = [f"{label}: {took:.3f} ms, {work / took / most:.1%} of peak, "
                 f"outputs to the host {to_host:.3f} ms"]
        if isinstance(config, int):
            words.append(f"{1e3 * took / config:.2f} us a layer")
            if not arguments.no_peers:
                other = deep_peer(config, batch, tokens)
                words.append(f"torch as a graph {other:.3f} ms ({other / took:.2f}x)")
        elif not arguments.no_peers:
            for compiled in (False, True):
                try:
                    other = peer(config, dtype, batch, tokens, compiled)
                    words.append(("torch.compile" if compiled else "torch") +
                                 f" {other:.3f} ms ({other / took:.2f}x)")
                except Exception as failure:  # a peer that cannot is said, no more
                    words.append(f"torch refused: {str(failure)[:80]}")
        print(", ".join(words), *lines, sep="\n", flush=True)
    if not arguments.words or any(word in STEPS_NAME for word in arguments.words):
        run_steps(arguments, copy)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("folder")
    parser.add_argument("--mille", default=os.path.join(ROOT, "build/bin/mille"))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--profile", type=int, default=0, help="kernels to list")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_intermixed_args()
    if arguments.what == "prepare":
        prepare(arguments.folder, arguments.mille, arguments.words)
    else:
        run(arguments)


if __name__ == "__main__":
    main()
