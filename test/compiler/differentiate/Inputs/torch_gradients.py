#!/usr/bin/env python3
"""Answers of projections.test: gradients by torch, made once.

  torch_gradients.py CONFORMANCE OUT.json CASE...

Runs each case of test/conformance with transformers (eager attention, float64) and
writes the gradient of every tensor along three fixed directions. A case may have other
options: "NAME KEY=JSON ...". Needs torch and transformers, which no test does.
"""
import json
import os
import sys

import torch
import transformers
from safetensors.torch import load_file

COUNT = 3


def direction(shape, k):
    count = 1
    for extent in shape:
        count *= extent
    i = torch.arange(count, dtype=torch.int64)
    word = (i * 2654435761 + k * 1013904223) % 2**32
    return (word.double() / 2**31 - 1).reshape(shape)


def load(folder, changes):
    config = transformers.AutoConfig.from_pretrained(folder)
    for change in changes:
        key, value = change.split("=", 1)
        setattr(config, key, json.loads(value))
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    kind = getattr(transformers, config.architectures[0])
    model = kind.from_pretrained(folder, config=config,
                                 attn_implementation="eager").double().eval()
    return model


def turn_in_double(model):
    """Angles of RoPE and an embedding's scale, which constructors round to
    float32."""
    for module in model.modules():
        if hasattr(module, "scalar_embed_scale"):
            module.embed_scale = torch.tensor(module.scalar_embed_scale,
                                              dtype=torch.float64)
        if not hasattr(module, "inv_freq"):
            continue
        kind = getattr(module, "rope_type", "default")
        if isinstance(kind, dict) or hasattr(module, "layer_types"):
            continue
        make = (module.compute_default_rope_parameters if kind == "default" else
                transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS[kind])
        module.inv_freq = make(module.config)[0].double()


def labels_of(shape, classes, mask, per_sequence):
    count = shape[0] if per_sequence else shape[0] * shape[1]
    labels = (7 * torch.arange(count) + 3) % classes
    if not per_sequence:
        hidden = torch.arange(count) % 5 == 4
        if mask is not None:
            hidden |= mask.reshape(-1) == 0
        labels[hidden] = -100
    return labels


def of_single_experts(named):
    """Files hold experts one by one which transformers stacks: their gradients."""
    found = {}
    for name, gradient in named.items():
        if not name.endswith(".experts.gate_up_proj") or gradient is None:
            continue
        prefix = name.removesuffix("gate_up_proj")
        for e, (both, down) in enumerate(zip(gradient, named[prefix + "down_proj"])):
            gate, up = both.chunk(2)
            for kind, part in (("gate", gate), ("up", up), ("down", down)):
                found[f"{prefix}{e}.{kind}_proj.weight"] = part
    return found


def gradients(model, stored, inputs):
    turn_in_double(model)
    inputs = {name: x.double() if x.is_floating_point() else x
              for name, x in inputs.items()}
    out = model(**inputs)
    logits = out.logits
    classes = logits.shape[-1]
    of = "decoder_" if "decoder_input_ids" in inputs else ""
    rows = inputs.get(of + "input_ids", inputs.get("pixel_values"))
    labels = labels_of(rows.shape, classes, inputs.get(of + "attention_mask"),
                       logits.dim() == 2)
    loss = torch.nn.functional.cross_entropy(
        logits.reshape(-1, classes), labels, reduction="sum") / 8
    if getattr(model.config, "output_router_logits", False):
        loss = loss + model.router_aux_loss_coef * out.aux_loss
    loss.backward()
    named = {name: parameter.grad for name, parameter in
             model.named_parameters(remove_duplicate=False)}
    named.update(of_single_experts(named))
    by_numbers = {(tuple(parameter.shape), parameter.detach().numpy().tobytes()):
                  parameter.grad for parameter in model.parameters()}
    found = {}
    for name in sorted(stored):
        gradient = named.get(name)
        if gradient is None:
            gradient = named.get(model.base_model_prefix + "." + name)
        if gradient is None: # transformers renames what it reads
            gradient = by_numbers.get((tuple(stored[name].shape),
                                       stored[name].double().numpy().tobytes()))
        if gradient is None or gradient.shape != stored[name].shape:
            continue
        along = [(gradient * direction(gradient.shape, k)).sum()
                 for k in range(1, COUNT + 1)]
        found[name] = [float(f"{float(number):.12g}") for number in along]
    return found


def main(arguments):
    root, out, *cases = arguments
    loaded = {}
    for case in cases:
        name, *changes = case.split()
        folder = os.path.join(root, name)
        loaded[case] = (load(folder, changes),
                        load_file(os.path.join(folder, "model.safetensors")),
                        load_file(os.path.join(folder, "inputs.safetensors")))
    # What a model computes in float32 whatever its weights are, too.
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    answers = {}
    for case, of in loaded.items():
        try:
            answers[case] = gradients(*of)
        except Exception as problem:
            print(case, "is left out:", problem)
            continue
        print(case, len(answers[case]), "tensors")
    rows = lambda found: ",\n".join(
        f" {json.dumps(name)}: {json.dumps(row)}" for name, row in found.items())
    with open(out, "w") as file:
        file.write("{\n" + ",\n".join(
            f"{json.dumps(case)}: {{\n{rows(answers[case])}}}"
            for case in sorted(answers)) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
