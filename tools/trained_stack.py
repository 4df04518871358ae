"""The spec of a stack that trains, for the scripts that train one."""

DEEPNORM = {"out_norm": {"kind": "layer_norm"},
            "skip_scale": {"kind": "const", "formula": "(2*layers)^(1/4)"}}


def stack(layers, hidden, inner, heads, vocabulary, tokens, mask, init, train,
          unit=DEEPNORM):
    """Attention and a feed-forward of GELU with all biases, learned positions, a head
    of its own. unit: where norms and scales of both stand; init, train: as a spec has
    them."""
    attention = {"kind": "attention", "heads": heads, "mask": mask,
                 "bias": {key: True for key in "qkvo"}}
    ffn = {"kind": "ffn", "intermediate_size": inner, "act": "gelu_erf",
           "bias": {"in": True, "out": True}}
    return {"layers": layers, "hidden_size": hidden, "vocab_size": vocabulary,
            "embedding": {"position": "learned", "position_size": tokens},
            "units": [dict(unit, branches=[attention]), dict(unit, branches=[ffn])],
            "head": {"tied": False}, "init": init, "train": train}
