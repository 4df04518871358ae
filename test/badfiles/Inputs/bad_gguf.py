"""Malformed GGUF files: the container, and what a model cannot be."""
import os
import struct
import sys

from files import write

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))
import gguf  # noqa: E402

MODEL = {"general.architecture": "llama", "llama.block_count": 1,
         "llama.context_length": 64, "llama.embedding_length": 8,
         "llama.feed_forward_length": 12, "llama.attention.head_count": 2,
         "llama.attention.head_count_kv": 1,
         "llama.attention.layer_norm_rms_epsilon": 1e-5,
         "tokenizer.ggml.tokens": [str(i) for i in range(16)]}
SHAPES = {"token_embd.weight": [16, 8], "output_norm.weight": [8],
          "output.weight": [16, 8], "blk.0.attn_norm.weight": [8],
          "blk.0.ffn_norm.weight": [8], "blk.0.attn_q.weight": [8, 8],
          "blk.0.attn_k.weight": [4, 8], "blk.0.attn_v.weight": [4, 8],
          "blk.0.attn_output.weight": [8, 8], "blk.0.ffn_gate.weight": [12, 8],
          "blk.0.ffn_up.weight": [12, 8], "blk.0.ffn_down.weight": [8, 12]}


def zeros(shapes):
    made = {}
    for name, shape in shapes.items():
        count = 4
        for extent in shape:
            count *= extent
        made[name] = (0, shape, bytes(count))
    return made


def changed(table, changes):
    """With some entries changed; None takes one away."""
    table = {**table, **changes}
    return {key: value for key, value in table.items() if value is not None}


def content(keys={}, shapes={}, tensors={}, **how):
    return gguf.file(changed(MODEL, keys),
                     changed(zeros(changed(SHAPES, shapes)), tensors), **how)


def named(name, data):
    def make(folder):
        path = os.path.join(folder, name)
        write(path, data)
        return path
    return make


def bad(*arguments, **named_arguments):
    return named("model.gguf", content(*arguments, **named_arguments))


def raw(data):
    return named("model.gguf", data)


def without(key):
    return bad({key: None})


def header(tensors=1, keys=0, rest=b"", version=3):
    return raw(b"GGUF" + struct.pack("<IQQ", version, tensors, keys) + rest)


def key(name, kind, data):
    return header(0, 1, gguf.text(name) + struct.pack("<I", kind) + data)


def tensor(name="w", shape=(4,), kind=0, offset=0, data=16, rank=None):
    """A file of one tensor, said as it stands."""
    head = gguf.text(name) + struct.pack("<I", len(shape) if rank is None else rank)
    head += b"".join(struct.pack("<Q", extent) for extent in shape)
    head += struct.pack("<IQ", kind, offset)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + head
    return raw(head + b"\0" * (-len(head) % 32) + bytes(data))


def two(first, second, data):
    head = b"GGUF" + struct.pack("<IQQ", 3, 2, 0)
    for name, (offset, size) in (("a", first), ("b", second)):
        head += gguf.text(name) + struct.pack("<IQIQ", 1, size, 24, offset)
    return raw(head + b"\0" * (-len(head) % 32) + bytes(data))


def parts(*changes):
    """Two parts of one model, the keys of each changed."""
    def make(folder):
        for part, change in enumerate(changes):
            split = {"split.no": (gguf.U16, part), "split.count": (gguf.U16, 2),
                     "split.tensors.count": (gguf.I32, 12), **change}
            names = list(SHAPES)[part::2] + split.pop("more", [])
            keys = {**MODEL, **split} if part == 0 else split
            write(os.path.join(folder, f"m-{part + 1:05}-of-00002.gguf"),
                  gguf.file(keys, zeros({n: SHAPES[n] for n in names})))
        return os.path.join(folder, "m-00001-of-00002.gguf")
    return make


def second_part(folder):
    parts({}, {})(folder)
    return os.path.join(folder, "m-00002-of-00002.gguf")


def many_keys(count):
    body = b"".join(gguf.text(f"k{i}") + struct.pack("<IB", 0, 1) for i in range(count))
    return header(0, count, body)


def a_folder(folder):
    path = os.path.join(folder, "model.gguf")
    os.mkdir(path)
    return path


SOUND = content()
HEAD = SOUND.index(b"blk.0.ffn_down.weight") + 21 + 4 + 16 + 4 + 8
DATA = -(-HEAD // 32) * 32


def cut_short(at):
    """What is said of the first bytes of SOUND: how many there are, and what needs more."""
    if not at:
        return 'model.gguf: error: the file has 0 bytes but they do not begin with "GGUF"'
    if at < HEAD:
        return f" on but the file has {at}\n"
    return f" of the data but the file holds {max(0, at - DATA)} bytes of data\n"


CUTS = [(f"cut_{at}", raw(SOUND[:at]), ["model.gguf: error: ", cut_short(at)])
        for at in [*range(0, HEAD, max(1, HEAD // 40)), HEAD - 1, HEAD,
                   len(SOUND) // 2, len(SOUND) - 32, len(SOUND) - 1]]

CASES = CUTS + [
    ("empty", raw(b""), ["the file has 0 bytes but they do not begin with \"GGUF\""]),
    ("is_a_folder", a_folder, ["the folder has no config.json"]),
    ("not_there", lambda folder: os.path.join(folder, "no.gguf"), ["cannot read the model"]),
    ("other_magic", raw(b"GGML" + SOUND[4:]), ["but they do not begin with \"GGUF\""]),
    ("version_1", header(version=1), ["the file is of GGUF version 1 but versions 2 and 3 are read"]),
    ("version_4", header(version=4), ["the file is of GGUF version 4"]),
    ("big_endian", header(version=3 << 24), ["the file's numbers are big-endian but only little-endian files are read"]),
    ("tensors_2_60", header(1 << 60), ["the file has 1152921504606846976 tensors and 0 keys but at most"]),
    ("keys_all_ones", header(0, (1 << 64) - 1), ["and 18446744073709551615 keys but at most"]),
    ("keys_200000", many_keys(200_000), ["and 200000 keys but at most 262144 and 65536 are read"]),
    ("key_name_2_63", header(0, 1, struct.pack("<Q", 1 << 63)),
     ["the name of key 0 has 9223372036854775808 bytes but at most 4096 are read"]),
    ("key_name_beyond", header(0, 1, struct.pack("<Q", 100) + b"abc"),
     ["the name of key 0 takes 100 bytes from byte 32 on but the file has 35"]),
    ("key_type_13", key("k", 13, bytes(8)), ["key 'k' is of type 13 but types are 0 to 12"]),
    ("key_twice", header(0, 2, 2 * (gguf.text("k") + struct.pack("<IB", 0, 1))), ["key 'k' is given twice"]),
    ("flag_2", key("k", gguf.BOOL, b"\2"), ["key 'k' is true or false but its byte is 2"]),
    ("text_beyond", key("k", gguf.TEXT, struct.pack("<Q", (1 << 64) - 1)),
     ["key 'k' has 18446744073709551615 bytes but at most"]),
    ("array_overflows", key("k", gguf.ARRAY, struct.pack("<IQ", gguf.F64, 1 << 61)),
     ["key 'k' has 2305843009213693952 entries, whose size does not fit 64 bits"]),
    ("array_beyond", key("k", gguf.ARRAY, struct.pack("<IQ", gguf.U8, 1 << 40)),
     ["key 'k' takes 1099511627776 bytes from byte"]),
    ("array_of_texts_beyond", key("k", gguf.ARRAY, struct.pack("<IQ", gguf.TEXT, 1 << 60)),
     ["the length of an entry of key 'k' takes 8 bytes"]),
    ("array_of_arrays", key("k", gguf.ARRAY, struct.pack("<IQ", gguf.ARRAY, 1)),
     ["key 'k' is an array of type 9 but entries of arrays are of a type from 0 to 12 and not 9"]),
    ("array_of_13", key("k", gguf.ARRAY, struct.pack("<IQ", 13, 1)), ["key 'k' is an array of type 13"]),
    ("alignment_0", bad({"general.alignment": 0}), ["general.alignment is 0 but must be a power of 2"]),
    ("alignment_3", bad({"general.alignment": 3}), ["general.alignment is 3 but must be a power of 2"]),
    ("alignment_text", bad({"general.alignment": "32"}), ["general.alignment is of type 8 but must be a u32, type 4"]),
    ("alignment_u64", bad({"general.alignment": (gguf.U64, 1 << 40)}), ["general.alignment is of type 10"]),
    ("alignment_4_gb", bad({"general.alignment": 1 << 31}), ["must begin at a multiple of general.alignment, which is 2147483648"]),
    ("tensor_name_beyond", header(1, 0, struct.pack("<Q", 4097)), ["the name of tensor 0 has 4097 bytes but at most 4096"]),
    ("tensor_name_control", tensor(name="\n\x1b[31m", kind=99), ["tensor '\\0A\\1B[31m' is of type 99"]),
    ("tensor_twice", raw(SOUND.replace(b"blk.0.attn_k.weight", b"blk.0.attn_v.weight")),
     ["tensor 'blk.0.attn_v.weight' is given twice"]),
    ("rank_5", tensor(rank=5), ["tensor 'w' has 5 extents but at most 4 are read"]),
    ("rank_all_ones", tensor(rank=(1 << 32) - 1), ["tensor 'w' has 4294967295 extents"]),
    ("extent_0", tensor(shape=(0,)), ["tensor 'w' has extent 0 but extents are whole numbers from 1 to"]),
    ("extent_2_63", tensor(shape=(1 << 63,)), ["tensor 'w' has extent 9223372036854775808 but"]),
    ("shape_overflows", tensor(shape=(1 << 31, 1 << 31, 1 << 31)),
     ["tensor 'w' has shape [2147483648, 2147483648, 2147483648], whose size does not fit 64 bits"]),
    ("row_overflows", tensor(shape=(1 << 62,)), ["tensor 'w' has shape [4611686018427387904], whose size"]),
    ("blocks_overflow", tensor(shape=(1 << 40, 1 << 22), kind=2), ["whose size does not fit 64 bits"]),
    ("size_beyond", tensor(shape=(1 << 40,)),
     ["tensor 'w' ends at byte 4398046511104 of the data but the file holds 16 bytes of data"]),
    ("width_33", tensor(shape=(33, 2), kind=2), ["tensor 'w' has rows of 33 numbers but a block of Q4_0 has 32"]),
    ("width_128", tensor(shape=(128, 2), kind=12), ["tensor 'w' has rows of 128 numbers but a block of Q4_K has 256"]),
    ("type_iq2", tensor(kind=16), ["tensor 'w' is of type IQ2_XXS but Mille reads F32, F16, Q4_0, Q4_1, Q5_0"]),
    ("type_nvfp4", tensor(kind=40), ["tensor 'w' is of type NVFP4 but Mille reads"]),
    ("type_removed", tensor(kind=4), ["tensor 'w' is of type 4 but Mille reads"]),
    ("offset_unaligned", tensor(offset=1), ["tensor 'w' begins at byte 1 of the data but must begin at a multiple of general.alignment, which is 32"]),
    ("offset_all_ones", tensor(offset=(1 << 64) - 32, shape=(16,)),
     ["tensor 'w' has 64 bytes from 18446744073709551584 on, whose end does not fit 64 bits"]),
    ("offset_beyond", tensor(offset=1 << 40), ["tensor 'w' ends at byte 1099511627792 of the data but the file holds 16"]),
    ("overlap", two((0, 40), (32, 32), 64), ["tensor 'b' begins at byte 32 but tensor 'a' ends at 40: they overlap"]),
    ("same_place", two((0, 32), (0, 32), 64), ["begins at byte 0 but tensor", "they overlap"]),
    ("gap", two((0, 32), (64, 32), 96), ["tensor 'b' begins at byte 64 but tensor 'a' ends at 32: they leave a gap"]),
    ("gap_first", tensor(offset=32, data=48), ["tensor 'w' begins at byte 32 but the data begins at 0: they leave a gap"]),
    ("tail", raw(SOUND + bytes(64)), ["the tensors end at byte", "bytes of data"]),
    ("no_architecture", without("general.architecture"), ["the file has no key general.architecture"]),
    ("architecture_number", bad({"general.architecture": 7}), ["general.architecture is 7 but must be a text"]),
    ("architecture_mamba", bad({"general.architecture": "mamba"}),
     ["general.architecture is \"mamba\" but Mille knows llama, qwen2, qwen2moe, qwen3"]),
    ("no_block_count", without("llama.block_count"), ["the file has no key llama.block_count"]),
    ("no_epsilon", without("llama.attention.layer_norm_rms_epsilon"), ["no key llama.attention.layer_norm_rms_epsilon"]),
    ("heads_text", bad({"llama.attention.head_count": "two"}),
     ["llama.attention.head_count is \"two\" but must be one number, and finite"]),
    ("heads_array", bad({"llama.attention.head_count": [2, 2]}),
     ["llama.attention.head_count is an array of 2 numbers but must be one number"]),
    ("epsilon_nan", bad({"llama.attention.layer_norm_rms_epsilon": float("nan")}),
     ["layer_norm_rms_epsilon is nan but must be one number, and finite"]),
    ("epsilon_negative", bad({"llama.attention.layer_norm_rms_epsilon": -1.0}),
     ["rms_norm_eps is -1 but must be more than 0",
      "note: rms_norm_eps is -1 by the key llama.attention.layer_norm_rms_epsilon"]),
    ("layers_0", bad({"llama.block_count": 0}), ["num_hidden_layers is 0 but must be a whole number from 1",
                                                 "by the key llama.block_count"]),
    ("heads_0", bad({"llama.attention.head_count": 0}), ["num_attention_heads is 0 but must be"]),
    ("layers_many", bad({"llama.block_count": (1 << 31) - 1}), ["num_hidden_layers is 2147483647 but at most 65536 is done"]),
    ("kv_heads_3", bad({"llama.attention.head_count_kv": 3}), ["num_key_value_heads is 3 but must divide",
                                                               "by the key llama.attention.head_count"]),
    ("value_length", bad({"llama.attention.value_length": 8}),
     ["llama.attention.value_length is 8 but heads of keys have 4 numbers: Mille does heads of one size here"]),
    ("not_causal", bad({"llama.attention.causal": False}), ["llama.attention.causal is false but Mille does only true for llama"]),
    ("scaling_unknown", bad({"llama.rope.scaling.type": "ntk"}),
     ["llama.rope.scaling.type is \"ntk\" but Mille does none, linear, yarn and longrope"]),
    ("scaling_without_factor", bad({"llama.rope.scaling.type": "linear"}), ["has no factor"]),
    ("scaling_longrope", bad({"llama.rope.scaling.type": "longrope"}), ['rope.scaling.type is "longrope" but the file has no rope_factors_long.weight and rope_factors_short.weight']),
    ("rope_factors", bad(tensors={"rope_freqs.weight": (0, [3], gguf.f32([1, 1, 1]))}), ["there are 3 factors of frequencies but RoPE turns 2 pairs"]),
    ("rope_factor_0", bad(shapes={"rope_freqs.weight": [2]}), ["tensor 'rope_freqs.weight' has the factor 0 but factors are more than 0, and finite"]),
    ("rope_factors_many", bad(shapes={"rope_freqs.weight": [65537]}), ["has 65537 factors but at most 65536 are read"]),
    ("scaling_factor_nan", bad({"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": float("nan")}),
     ["llama.rope.scaling.factor is nan but must be one number, and finite"]),
    ("dimensions_2_62", bad({"llama.rope.dimension_count": (gguf.U64, 1 << 62)}),
     ["llama.rope.dimension_count is 4611686018427387904 but must be a whole number of at most 2147483647"]),
    ("architecture_control", bad({"general.architecture": "\x1b[31m" + "a" * 5000}),
     ["general.architecture is \"\\1B[31maaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\" but"]),
    ("rope_part", bad({"llama.rope.dimension_count": 2}), ["partial_rotary_factor is 0.5 but heads turn whole",
                                                           "by the key llama.rope.dimension_count"]),
    ("vocabulary", bad({"tokenizer.ggml.tokens": ["a"] * 15}),
     ["tokenizer.ggml.tokens has 15 tokens but token_embd.weight has 16 rows"]),
    ("vocabulary_key", bad({"llama.vocab_size": 17}), ["llama.vocab_size is 17 but token_embd.weight has 16 rows"]),
    ("no_words", bad(shapes={"token_embd.weight": None}), ["the file has no tensor 'token_embd.weight'"]),
    ("words_1d", bad(shapes={"token_embd.weight": [128]}), ["the file has no tensor 'token_embd.weight' [vocabulary, width]"]),
    ("tensor_missing", bad(shapes={"blk.0.ffn_up.weight": None}),
     ["tensor 'blk.0.ffn_up.weight' [12, 8] is not in model.gguf", "note: intermediate_size is 12 here"]),
    ("tensor_shape", bad(shapes={"blk.0.ffn_up.weight": [8, 12]}),
     ["tensor 'blk.0.ffn_up.weight' is [8, 12] but the model needs [12, 8]"]),
    ("tensor_integers", bad(tensors={"output_norm.weight": (26, [8], bytes(32))}),
     ["tensor 'output_norm.weight' is I32 but weights are"]),
    ("part_2", second_part, ["the file says that it is part 2 of 2 but a model is given by its first part"]),
    ("part_missing", lambda folder: (parts({}, {})(folder), os.remove(
        os.path.join(folder, "m-00002-of-00002.gguf")))[0], ["m-00002-of-00002.gguf: error: cannot read the file"]),
    ("part_name", bad({"split.count": 3}), ["part 1 of 3 but its name does not end in -00001-of-00003.gguf"]),
    ("part_other", parts({}, {"split.no": (gguf.U16, 2)}), ["part 3 of 2 but it is read as part 2 of 2"]),
    ("part_count", parts({}, {"split.count": (gguf.U16, 3)}), ["part 2 of 3 but it is read as part 2 of 2"]),
    ("parts_sum", parts({"split.tensors.count": (gguf.I32, 13)}, {}),
     ["split.tensors.count is 13 but the 2 parts have 12 tensors"]),
    ("parts_share", parts({}, {"more": ["token_embd.weight"]}),
     ["tensor 'token_embd.weight' is in another part of the model, too"]),
]
