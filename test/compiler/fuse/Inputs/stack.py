#!/usr/bin/env python3
"""Prints a small unrolled transformer.model: stack.py PLACEMENT LAYERS.

PLACEMENT is post (DeepNorm, scales that differ by layer), pre, llama (rms norm,
GQA, RoPE, gated), sandwich or parallel. Weights are drawn, seed 1.
"""
import sys

placement, layers = sys.argv[1], int(sys.argv[2])
width, inner, heads, vocabulary = 16, 24, 2, 32
head = width // heads
parameters, lines = {}, []


def stream(channels):
    return f"tensor<?x?x{channels}xf32>"


T, IDS = stream(width), "tensor<?x?xi32>"


def parameter(name, *shape):
    type = "tensor<" + "x".join(map(str, shape)) + "xf32>"
    parameters[name] = (
        f'  transformer.parameter @"{name}" : {type} = #transformer.drawn<normal,'
        f' mean = 0.0, std = 0.2, seed = 1, stream = "{name}", {type}>')
    return f'@"{name}"'


def norm(name, kind="layer_norm"):
    weight = parameter(name + ".weight", width)
    if kind == "rms_norm":
        return f"<rms_norm, eps = 1.0e-6, affine = weight, weight = {weight}>"
    bias = parameter(name + ".bias", width)
    return (f"<layer_norm, eps = 1.0e-5, affine = weight, weight = {weight},"
            f" bias = {bias}>")


def norms(*names, kind="layer_norm"):
    return "[" + ", ".join("#transformer.norm" + norm(n, kind) for n in names) + "]"


def linear(body, to, name, input, rows, columns, bias):
    text = f"%{to} = transformer.linear %{input} weight "
    text += parameter(name + ".weight", rows, columns)
    if bias:
        text += " bias " + parameter(name + ".bias", rows)
    body.append(f"{text} : {stream(columns)} -> {stream(rows)}")


def attention(unit, rope=False, kv_heads=heads, biases="qkvo"):
    body, kv = [], kv_heads * head
    linear(body, "q", unit + ".q", "u", width, width, "q" in biases)
    linear(body, "k", unit + ".k", "u", kv, width, "k" in biases)
    linear(body, "v", unit + ".v", "u", kv, width, "v" in biases)
    query, key, mask = "q", "k", "bidirectional"
    if rope:
        query, key, mask = "rq", "rk", "causal"
        for name, count in ("q", heads), ("k", kv_heads):
            body.append(
                f"%r{name} = transformer.rotate %{name} at %positions heads {count}"
                f" head_dim {head} pairing half frequencies [1.0, 0.01]"
                f" : {stream(count * head)}, {IDS}")
    body.append(
        f"%a = transformer.attend %{query}, %{key}, %v key_mask %mask : {IDS} heads"
        f" {heads} kv_heads {kv_heads} head_dim {head} value_dim {head} scale"
        f" {head ** -0.5} mask {mask} : {T}, {stream(kv)}, {stream(kv)} -> {T}")
    linear(body, "o", unit + ".o", "a", width, width, "o" in biases)
    return body, "%o"


def feed_forward(unit, gated=False):
    body = []
    linear(body, "i", unit + ".in", "u", inner, width, True)
    if gated:
        linear(body, "g", unit + ".gate", "u", inner, width, False)
        body.append(f"%h = transformer.gate %g, %i by silu : {stream(inner)}")
    else:
        body.append(f"%h = transformer.activate %i by gelu_erf : {stream(inner)}")
    linear(body, "d", unit + ".out", "h", width, inner, True)
    return body, "%d"


def residual(layer, slots, *branches):
    global at
    before, at = at, f"%s{len(lines)}"
    regions = []
    for body, result in branches:
        body = "\n      ".join(body)
        regions.append(f"{{\n    ^bb0(%u: {T}):\n      {body}\n"
                       f"      transformer.yield {result} : {T}\n    }}")
    lines.append(f"{at} = transformer.residual {before} {slots} layer {layer} "
                 f"{', '.join(regions)} : {T}")


embed = parameter("embed.weight", vocabulary, width)
position = parameter("position.weight", 66, width)
lines.append(f"%x = transformer.embed(%ids, %positions) tables [{embed}, {position}]"
             f" offsets [0, 2] : ({IDS}, {IDS}) -> {T}")
at = "%x"
if placement == "post":
    lines.append(f"%e = transformer.norm %x by {norm('embed_norm')} : {T}")
    at = "%e"
for layer in range(layers):
    attn, ffn = f"layers.{layer}.attn", f"layers.{layer}.ffn"
    if placement == "post":
        alpha = (2 * layers) ** 0.25
        residual(layer, f"out_norm {norm(attn + '.out_norm')}"
                 f' skip_scale <constant {alpha!r} = "(2*{layers})^(1/4)">',
                 attention(attn))
        residual(layer, f"out_norm {norm(ffn + '.out_norm')}"
                 f" skip_scale <constant {1 + layer / 8!r}>", feed_forward(ffn))
    elif placement == "pre":
        residual(layer, f"in_norm {norms(attn + '.in_norm')}",
                 attention(attn, biases="qvo"))
        residual(layer, f"in_norm {norms(ffn + '.in_norm')}", feed_forward(ffn))
    elif placement == "llama":
        residual(layer, f"in_norm {norms(attn + '.in_norm', kind='rms_norm')}",
                 attention(attn, rope=True, kv_heads=1, biases=""))
        residual(layer, f"in_norm {norms(ffn + '.in_norm', kind='rms_norm')}",
                 feed_forward(ffn, gated=True))
    elif placement == "sandwich":
        for unit, branch in (attn, attention(attn)), (ffn, feed_forward(ffn)):
            residual(layer, f"in_norm {norms(unit + '.in_norm')} branch_norm"
                     f" {norms(unit + '.branch_norm')} branch_scale"
                     f" [#transformer.scale<constant 0.7>]", branch)
    elif placement == "parallel":
        channel = parameter(attn + ".branch_scale", width)
        scalar = parameter(ffn + ".branch_scale", 1)
        residual(layer, f"in_norm {norms(f'layers.{layer}.block.in_norm')}"
                 f" branch_scale [#transformer.scale<learned_channel {channel}>,"
                 f" #transformer.scale<learned_scalar {scalar}>]",
                 attention(attn), feed_forward(ffn))
    else:
        sys.exit(f"stack.py: unknown placement {placement}")
if placement != "post":
    kind = "rms_norm" if placement == "llama" else "layer_norm"
    lines.append(f"%n = transformer.norm {at} by {norm('final_norm', kind)} : {T}")
    at = "%n"
lines.append(f"%logits = transformer.linear {at} weight {embed}"
             f" : {T} -> {stream(vocabulary)}")

print(f"transformer.model @{placement} {{")
print("\n".join(parameters.values()))
print(f"  func.func @forward(")
print(f'      %ids: {IDS} {{transformer.name = "input_ids",'
      f" transformer.below = {vocabulary} : i64}},")
print(f'      %positions: {IDS} {{transformer.name = "position_ids",'
      ' transformer.default = "positions", transformer.below = 64 : i64},')
print(f'      %mask: {IDS} {{transformer.name = "attention_mask",'
      ' transformer.default = "ones"})')
print(f'      -> ({T} {{transformer.name = "last_hidden_state"}},')
print(f'          {stream(vocabulary)} {{transformer.name = "logits"}}) {{')
for line in lines:
    print("    " + line)
print(f"    return {at}, %logits : {T}, {stream(vocabulary)}")
print("  }\n}")
