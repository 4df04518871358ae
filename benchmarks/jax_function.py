"""An encoder as a function of JAX: its layers unrolled, or one scanned."""
import jax
import jax.numpy as jnp
import numpy as np


def weights(encoder, scanned, dtype="f32"):
    """What the function takes: embedding, and layers as a list or stacked; all of
    one type, in which the function then computes."""
    embedding = {"words": np.array(encoder.words)}
    if encoder.positions is not None:
        embedding.update(positions=np.array(encoder.positions),
                         norm=tuple(np.array(part) for part in encoder.norm))
    layers = [{name: (np.ascontiguousarray(weight.T), np.array(bias))
               for name, (weight, bias) in encoder.layer(index).items()}
              for index in range(encoder.layers)]
    if scanned:
        layers = {name: tuple(np.stack([layer[name][part] for layer in layers])
                              for part in range(2)) for name in layers[0]}
    if dtype == "bf16":
        return jax.tree.map(lambda array: array.astype(jnp.bfloat16),
                            (embedding, layers))
    return embedding, layers


def layer_norm(x, pair, eps):
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred ** 2).mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + eps) * pair[0] + pair[1]


def linear(x, pair):
    return x @ pair[0] + pair[1]


def layer(x, weights, heads, eps, alpha, bias):
    batch, tokens, hidden = x.shape

    def head(name):
        part = linear(x, weights[name]).reshape(batch, tokens, heads, -1)
        return part.transpose(0, 2, 1, 3)

    scores = head("query") @ head("key").transpose(0, 1, 3, 2)
    scores = scores * (hidden // heads) ** -0.5
    if bias is not None:
        scores = scores + bias
    mixed = jax.nn.softmax(scores, axis=-1) @ head("value")
    mixed = mixed.transpose(0, 2, 1, 3).reshape(batch, tokens, hidden)
    x = layer_norm(alpha * x + linear(mixed, weights["out"]),
                   weights["attention_norm"], eps)
    up = jax.nn.gelu(linear(x, weights["up"]), approximate=False)
    return layer_norm(alpha * x + linear(up, weights["down"]),
                      weights["ffn_norm"], eps)


def function(encoder, scanned):
    """(embedding, layers, ids, mask or None) -> last hidden state."""
    heads, eps, alpha = encoder.heads, encoder.eps, encoder.alpha

    def forward(embedding, layers, ids, mask=None):
        x = embedding["words"][ids]
        if "positions" in embedding:
            x = layer_norm(x + embedding["positions"][:ids.shape[1]],
                           embedding["norm"], eps)
        bias = None if mask is None else jnp.where(
            mask[:, None, None, :] > 0, 0.0, -10000.0).astype(x.dtype)
        if scanned:
            return jax.lax.scan(lambda x, one: (
                layer(x, one, heads, eps, alpha, bias), None), x, layers)[0]
        for one in layers:
            x = layer(x, one, heads, eps, alpha, bias)
        return x

    return forward
