"""Native specs that say what cannot be, or what Mille does not do."""
from files import *


def model(**changes):
    return lambda folder: native(folder, model=spec(**changes))


def without(key):
    def make(folder):
        changed = spec()
        del changed[key]
        return native(folder, model=changed)
    return make


def unit(i, **changes):
    def make(folder):
        changed = spec()
        changed["units"][i].update(changes)
        return native(folder, model=changed)
    return make


def branch(i, **changes):
    def make(folder):
        changed = spec()
        changed["units"][i]["branches"][0].update(changes)
        return native(folder, model=changed)
    return make


def many_errors(folder):
    changed = spec()
    changed["units"][0]["branches"][0].update({"wrong_%d" % i: i for i in range(30)})
    return native(folder, model=changed)


def in_file_order(folder):
    return native(folder, model='{"layers": 0,\n "hidden_sise": 8,\n "vocab_size": "x",\n "units": []}')


def both(folder):
    changed = spec()
    changed["units"] = [{"name": "block", "composition": "sequential", "in_norm": norm(),
                         "branches": [u["branches"][0] for u in changed["units"]]}]
    return native(folder, model=changed)


def two_norms(folder):
    changed = spec()
    changed["units"] = [{"name": "block", "in_norm": norm(), "shared_in_norm": False, "residual_tap": "normed",
                         "branches": [u["branches"][0] for u in changed["units"]]}]
    return native(folder, model=changed)


def of_two_stacks(folder):
    changed = spec()
    units = changed.pop("units")
    units[0]["skip_scale"] = {"kind": "const", "formula": "(2*depth)^(1/4)"}
    changed["encoder"] = {"layers": changed.pop("layers"), "units": units}
    changed["decoder"] = {"layers": 1, "units": units}
    return native(folder, model=changed)


CASES = [
    ("no_weights_no_init", lambda folder: native(folder, weights=False),
     ["error: the spec has no init and there is no model.safetensors beside it",
      'help: add "init": {"scheme": "xavier", "seed": 1}, or give --weights=FILE']),
    ("unknown_key", branch(0, kv_head=1), ["error: key 'kv_head' of a branch is unknown", "help: did you mean 'kv_heads'?"]),
    ("unknown_key_far", model(colour="red"), ["error: key 'colour' of the spec is unknown"]),
    ("unknown_key_of_norm", unit(0, out_norm=dict(norm(), epsilon=1)), ["error: key 'epsilon' of out_norm is unknown"]),
    ("unknown_key_of_bias", branch(1, bias={"in": True, "ou": True}),
     ["error: key 'ou' of bias is unknown", "help: did you mean 'out'?"]),
    ("kv_heads", branch(0, heads=32, kv_heads=5),
     ["error: kv_heads is 5 but must divide heads, which is 32", "note: heads is given here",
      "help: nearest divisors of 32 are 4 and 8"]),
    ("kv_heads_above_heads", branch(0, heads=2, kv_heads=4), ["error: kv_heads is 4 but must divide heads, which is 2"]),
    ("heads_no_head_dim", branch(0, heads=3, kv_heads=3, head_dim=None),
     ["error: heads is 3 but must divide hidden_size, which is 8, where head_dim is absent", "note: hidden_size is given here"]),
    ("no_layers", without("layers"), ["error: the spec has no layers"]),
    ("no_hidden_size", without("hidden_size"), ["error: the spec has no hidden_size"]),
    ("no_units", without("units"), ["error: the spec has no units"]),
    ("layers_0", model(layers=0), ["error: layers is 0 but must be a whole number from 1"]),
    ("layers_many", model(layers=10**9), ["error: layers is 1000000000 but at most 65536 is done"]),
    ("layers_fraction", model(layers=1.5), ["error: layers is 1.5 but must be a whole number from 1"]),
    ("layers_text", model(layers="12"), ['error: layers is "12" but must be a whole number from 1']),
    ("vocab_beyond", model(vocab_size=1 << 62), ["error: vocab_size is 4611686018427387904 but at most 2147483647 is done"]),
    ("norm_cast", unit(0, out_norm=dict(norm(), cast="mul_then_cast")), ["error: key 'cast' of out_norm is unknown"]),
    ("ffn_2_31", branch(1, intermediate_size=1 << 31), ["error: intermediate_size is 2147483648 but at most 2147483647 is done"]),
    ("norm_kind", unit(0, out_norm={"kind": "layernorm"}),
     ['error: kind is "layernorm" but must be "layer_norm", "rms_norm", "l2_norm" or "identity"',
      'help: did you mean "layer_norm"?']),
    ("norm_eps", unit(0, out_norm=dict(norm(), eps=0)), ["error: eps is 0 but must be more than 0"]),
    ("norm_text", unit(0, out_norm="layer_norm"), ['error: out_norm is "layer_norm" but must be an object']),
    ("per_layer", unit(0, skip_scale=[{"kind": "const", "value": 1.0}] * 3),
     ["error: skip_scale has 3 entries but layers is 1", "note: layers is given here"]),
    ("scale_kind", unit(0, skip_scale={"kind": "constant", "value": 1}),
     ['error: kind is "constant" but must be "const"', 'help: did you mean "const"?']),
    ("scale_no_value", unit(0, skip_scale={"kind": "const"}), ["error: skip_scale has no value"]),
    ("formula_differs", unit(0, skip_scale={"kind": "const", "value": 1.5, "formula": "(2*layers)^(1/4)"}),
     ['error: value is 1.5 but formula "(2*layers)^(1/4)" gives 1.189207115002721', "note: formula is given here"]),
    ("formula_name", unit(0, skip_scale={"kind": "const", "formula": "(2*depth)^(1/4)"}),
     ['error: formula "(2*depth)^(1/4)" names \'depth\', which has no number', "help: a formula knows layers and hidden_size"]),
    ("formula_of_two_stacks", of_two_stacks, ["help: a formula knows layers, hidden_size, encoder_layers and decoder_layers"]),
    ("formula_no_value", unit(0, skip_scale={"kind": "const", "formula": "1/(layers-1)"}), ["has no finite value"]),
    ("formula_broken", unit(0, skip_scale={"kind": "const", "formula": "(2*"}), ['error: formula "(2*" ends where a number or a name belongs']),
    ("schedule_no_steps", unit(0, branch_scale={"kind": "scheduled", "from": 0, "to": 1}), ["error: branch_scale has no steps"]),
    ("schedule_0_steps", unit(0, branch_scale={"kind": "scheduled", "steps": 0}), ["error: steps is 0 but must be a whole number from 1"]),
    ("tap_without_norm", unit(0, residual_tap="normed"), ['error: residual_tap is "normed" but the unit has no in_norm']),
    ("sequential_two", both, ['error: composition is "sequential" but the unit has 2 branches',
                                 "help: branches of one unit are parallel; a sequence is several units"]),
    ("tap_of_two_norms", two_norms, ['error: residual_tap is "normed" but shared_in_norm is false: there is no one normed input']),
    ("unit_twice", unit(1, name="attn"), ['error: name "attn" is taken', "note: first given here"]),
    ("name_with_dots", unit(1, name="a.b"), ['error: name is "a.b" but must be letters, digits and _']),
    ("no_branches", unit(0, branches=[]), ["error: a unit has no branches"]),
    ("act", branch(1, act="gelu"), ['error: act is "gelu" but must be', 'help: did you mean "gelu_erf"?']),
    ("branch_kind", branch(1, kind="moe"), ['error: kind is "moe" but must be "attention" or "ffn"']),
    ("rotary_odd", branch(0, rope={"theta": 1e4, "rotary_dim": 3}), ["error: rotary_dim is 3 but must be even and at most head_dim, which is 4", "note: head_dim is given here"]),
    ("rotary_wide", branch(0, rope={"theta": 1e4, "rotary_dim": 8}), ["error: rotary_dim is 8 but must be even and at most head_dim"]),
    ("theta_negative", branch(0, rope={"theta": -1}), ["error: theta is -1 but must be more than 0"]),
    ("mask_cross", branch(0, mask="cross"), ['error: mask is "cross" but there is no encoder', "help: encoder and decoder are keys of the spec"]),
    ("mask_word", branch(0, mask="casual"), ['error: mask is "casual" but must be "bidirectional", "causal", "prefix" or "cross"', 'help: did you mean "causal"?']),
    ("position_unknown", model(embedding={"position": "sinusoidal"}), ['error: position is "sinusoidal" but must be "learned" or "sinusoid"', 'help: did you mean "sinusoid"?']),
    ("position_no_size", model(embedding={"position": "learned"}), ["error: embedding has no position_size"]),
    ("position_offset", model(embedding={"position": "learned", "position_size": 8, "position_offset": -1}), ["error: position_offset is -1 but must be from 0"]),
    ("window_three", branch(0, window=[4, 1, 0]), ["error: window has 3 entries but there are 2, left and right"]),
    ("window_negative", branch(0, window=[-4, 1]), ["error: an entry of window is -4 but must be a whole number from 0"]),
    ("window_text", branch(0, window="4"), ['error: window is "4" but must be a list']),
    ("sink", branch(0, sink=True), ['error: sink is true but must be "learned"']),
    ("qk_norm_kind", branch(0, qk_norm={"kind": "l1_norm"}), ['error: kind is "l1_norm" but must be']),
    ("qk_norm_key", branch(0, qk_norm={"kind": "l2_norm", "epsilon": 1}), ["error: key 'epsilon' of qk_norm is unknown"]),
    ("inner_norm_text", branch(1, inner_norm="rms_norm"), ['error: inner_norm is "rms_norm" but must be an object']),
    ("input_shift", branch(1, input_shift=1), ["error: input_shift is 1 but must be true or false"]),
    ("log_n", branch(0, logit_scale={"length": {"kind": "log_n", "m": 1}}), ["error: m is 1.0 but must be more than 1"]),
    ("log_floor", branch(0, logit_scale={"length": {"kind": "log_floor", "beta": 0.1}}), ["error: length has no period"]),
    ("decay", branch(0, decay=[0.5]), ["error: decay has 1 entries but heads is 2", "note: heads is given here"]),
    ("decay_text", branch(0, decay=[0.5, "a"]), ['error: an entry of decay is "a" but must be a number']),
    ("distance", branch(0, position_bias={"buckets": 32, "max_distance": 8}), ["error: max_distance is 8 but buckets is 32, of which the first 8 are single distances"]),
    ("position_bias", branch(0, position_bias="t5"), ['error: position_bias is "t5" but must be "alibi"']),
    ("latent", branch(0, head_dim=6, latent={"rank": 4, "nope_dim": 2, "rope_dim": 2}), ["error: head_dim is 6 but nope_dim is 2 and rope_dim 2"]),
    ("layout_biases", branch(0, layout="concat", bias={"q": True}), ["error: layout puts q, k and v in one matrix but their biases differ"]),
    ("longrope", branch(0, rope={"scaling": {"kind": "longrope", "original_length": 16, "short_factor": [1], "long_factor": [1, 1]}}),
     ["error: short_factor has 1 entries but RoPE turns 2 pairs"]),
    ("longrope_zero", branch(0, rope={"scaling": {"kind": "longrope", "original_length": 16, "short_factor": [1, 0], "long_factor": [1, 1]}}),
     ["error: an entry of short_factor is 0.0 but must be more than 0"]),
    ("dynamic", branch(0, rope={"scaling": {"kind": "dynamic", "original_length": 16, "factor": 0.5}}),
     ["error: factor is 0.5 for 2 pairs but dynamic RoPE needs a factor from 1 and 2 pairs"]),
    ("llama3", branch(0, rope={"scaling": {"kind": "llama3", "original_length": 16, "factor": 2, "low_freq_factor": 4, "high_freq_factor": 1}}),
     ["error: high_freq_factor is 1.0 but must be more than low_freq_factor, which is 4.0"]),
    ("experts_chosen", branch(1, experts={"count": 2, "chosen": 3}), ["error: chosen is 3 but count is 2", "note: count is given here"]),
    ("experts_groups", branch(1, experts={"count": 6, "chosen": 3, "groups": 3, "top_groups": 1}),
     ["error: groups is 3 and top_groups 1 but count is 6 and chosen 3"]),
    ("experts_layout", branch(1, experts={"count": 2, "chosen": 1, "layout": "concat"}),
     ['error: layout names how gate and up are held but gated is "none"']),
    ("pattern_kind", branch(1, pattern=[{}, {"kind": "attention", "heads": 2}]), ['error: kind differs from the branch\'s own, which is "ffn"']),
    ("pattern_key", branch(1, pattern=[{}, {"windows": 2}]), ["error: key 'windows' of a branch is unknown"]),
    ("layer_weights", model(layer_weights=[0, 0, 0]), ["error: layer_weights has 3 entries but layers is 1", "note: layers is given here"]),
    ("encoder_alone", model(encoder={"layers": 1}), ["error: the spec has an encoder but no decoder"]),
    ("decoder_alone", model(decoder={"layers": 1}), ["error: the spec has a decoder but no encoder"]),
    ("init_scheme", model(init={"scheme": "deepnet"}), ['error: scheme is "deepnet" but must be', 'help: did you mean "deepnorm"?']),
    ("init_seed", model(init={"scheme": "bert", "seed": -1}), ["error: seed is -1 but must be from 0"]),
    ("train_optimizer", model(train={"optimizer": "adan"}), ['error: optimizer is "adan" but must be', 'help: did you mean "adam"?']),
    ("train_beta", model(train={"beta1": 1}), ["error: beta1 is 1.0 but must be at least 0 and below 1"]),
    ("train_decay", model(train={"weight_decay": -1}), ["error: weight_decay is -1.0 but must be at least 0"]),
    ("train_steps", model(train={"schedule": "cosine", "warmup": 10, "steps": 10}),
     ["error: steps is 10 but must be more than warmup, which is 10, for a rate that falls"]),
    ("train_momentum", model(train={"momentum": 0.9}), ["error: momentum is given but only sgd has one"]),
    ("train_balance", model(train={"expert_balance": 0.01, "accumulate": 2}),
     ["error: expert_balance is given but accumulate is 2: the load of experts is that of a whole batch"]),
    ("train_group", model(train={"groups": [{"weight_decay": 0}]}), ["error: match is not given: which parameters are meant"]),
    ("train_match", model(train={"groups": [{"match": "a["}]}), ["error: match is 'a[', which is no pattern: invalid glob pattern"]),
    ("many_errors", many_errors, ["key 'wrong_19' of a branch is unknown", "there are 10 more errors"]),
    ("in_file_order", in_file_order,
     ["spec.json:1:12: error: layers is 0", "spec.json:2:2: error: key 'hidden_sise' of the spec is unknown",
      "help: did you mean 'hidden_size'?", 'spec.json:3:16: error: vocab_size is "x"', "spec.json:4:11: error: the spec has no units"]),
]
