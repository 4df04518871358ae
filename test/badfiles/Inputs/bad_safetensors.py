"""Malformed weight files beside a sound spec."""
import json
import os

from files import *


def weights(content):
    return lambda folder: native(folder, weights=content)


def one(dtype="F32", shape=(2, 2), offsets=(0, 16), data=16, **more):
    entry = {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}
    entry.update(more)
    entry = {key: value for key, value in entry.items() if value is not None}
    return weights(packed({"w": entry}, bytes(data)))


def two(first, second, data):
    entry = lambda o: {"dtype": "U8", "shape": [o[1] - o[0]], "data_offsets": list(o)}
    return weights(packed({"a": entry(first), "b": entry(second)}, bytes(data)))


def long_header(folder):
    path = native(folder, weights=packed("", length=200_000_000))
    os.truncate(os.path.join(folder, "model.safetensors"), 200_000_008)
    return path


def many_tensors(count):
    def make(folder):
        names = ",".join('"tensor%d":{"dtype":"U8","shape":[1],"data_offsets":[%d,%d]}'
                         % (i, i, i + 1) for i in range(count))
        return native(folder, weights=packed("{" + names + "}", bytes(count)))
    return make


def a_folder(folder):
    path = native(folder, weights=False)
    os.mkdir(os.path.join(folder, "model.safetensors"))
    return path


CASES = [
    ("empty", weights(b""),
     ["model.safetensors: error: the file has 0 bytes but the header's length alone takes 8"]),
    ("git_lfs", weights(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n"),
     ["model.safetensors: error: the file is Git LFS's pointer to the tensors", "help: git lfs pull"]),
    ("seven_bytes", weights(b"1234567"), ["the file has 7 bytes but"]),
    ("header_2_60", weights(packed("{}", length=1 << 60)),
     ["the header has 1152921504606846976 bytes but the file has 2 after its length"]),
    ("header_all_ones", weights(packed("{}", length=(1 << 64) - 1)),
     ["the header has 18446744073709551615 bytes but the file has 2"]),
    ("header_cut", weights(tensors(SHAPES)[:100]), ["but the file has 92 after its length"]),
    ("header_200_mb", long_header, ["the text has 200000000 bytes but at most 25165824 are read"]),
    ("data_cut", weights(tensors(SHAPES)[:-1]),
     ["error: tensor 'layers.0.ffn.out_norm.bias' ends at byte 2560 but the file holds 2559 bytes of data"]),
    ("is_a_folder", a_folder, ["model.safetensors: error: is not a regular file"]),
    ("header_empty", weights(packed("")), ["the file is empty where an object was expected"]),
    ("header_array", weights(packed("[]")), [":1:9: error: an object was expected here"]),
    ("header_not_json", weights(packed('{"w": }')), ["the text is not JSON from here on"]),
    ("header_not_utf8", weights(packed(b'{"\xff\xfe": {}}')), [":1:11: error: the text is not UTF-8"]),
    ("header_deep", weights(packed('{"w": ' + "[" * 100_000 + "]" * 100_000 + "}")),
     ["error: values nest more than 64 deep"]),
    ("header_deep_objects", weights(packed('{"w":' * 100_000 + "1" + "}" * 100_000)),
     ["error: values nest more than 64 deep"]),
    ("duplicate_names", weights(packed('{"w": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}, '
                                       '"w": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}')),
     ["error: key 'w' is given twice", "note: first given here"]),
    ("entry_no_object", weights(packed({"w": [1, 2]})), ["tensor 'w' is [1, 2] but must be an object"]),
    ("no_dtype", one(dtype=None), ["tensor 'w' has no dtype"]),
    ("no_shape", weights(packed({"w": {"dtype": "F32", "data_offsets": [0, 0]}})), ["tensor 'w' has no shape"]),
    ("no_offsets", one(data_offsets=None), ["tensor 'w' has no data_offsets"]),
    ("dtype_number", one(dtype=32), ["tensor 'w' has dtype 32 but it must be a string"]),
    ("dtype_unknown", one(dtype="F33"),
     ["tensor 'w' has dtype \"F33\" but known are F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL"]),
    ("shape_no_list", one(shape=()), ["tensor 'w' has 16 bytes but shape [] of F32 takes 4"]),
    ("shape_negative", one(shape=(-2, -2)), ["tensor 'w' has extent -2 but extents are whole numbers from 0"]),
    ("shape_fraction", one(shape=(2.5,)), ["tensor 'w' has extent 2.5 but"]),
    ("shape_text", one(shape=("4",)), ["tensor 'w' has extent \"4\" but"]),
    ("shape_long", one(shape=[1] * 10_000 + [2, 2]), ["tensor 'w' has 10002 extents but at most 8 are read"]),
    ("many_tensors", many_tensors(200_000), ["error: the values up to here take more than"]),
    ("many_tensors_57_mb", many_tensors(600_000), [" bytes but at most 25165824 are read"]),
    ("shape_overflows", one(shape=(1 << 31, 1 << 31, 4)),
     ["tensor 'w' has shape [2147483648, 2147483648, 4], whose size does not fit 64 bits"]),
    ("shape_beyond_64_bits", one(shape=(1 << 70,)), ["tensor 'w' has extent"]),
    ("offsets_three", one(offsets=(0, 8, 16)),
     ["tensor 'w' has data_offsets [0, 8, 16] but they must be two whole numbers from 0"]),
    ("offsets_negative", one(offsets=(-16, 0)), ["tensor 'w' has data_offsets [-16, 0] but they must be"]),
    ("offsets_reversed", one(offsets=(16, 0)), ["tensor 'w' begins at 16 but ends at 0"]),
    ("offsets_beyond", one(offsets=(0, 1 << 62), shape=(1 << 60,)),
     ["tensor 'w' ends at byte 4611686018427387904 but the file holds 16 bytes of data"]),
    ("offsets_against_shape", one(offsets=(0, 12), data=12),
     ["tensor 'w' has 12 bytes but shape [2, 2] of F32 takes 16"]),
    ("overlap", two((0, 10), (6, 16), 16),
     ["tensor 'b' begins at byte 6 but tensor 'a' ends at 10: they overlap", "note: the other offsets are here"]),
    ("gap", two((0, 6), (10, 16), 16), ["tensor 'b' begins at byte 10 but tensor 'a' ends at 6: they leave a gap"]),
    ("gap_first", two((4, 10), (10, 16), 16), ["tensor 'a' begins at byte 4 but the data begins at 0: they leave a gap"]),
    ("tail", two((0, 6), (6, 12), 16), ["the tensors end at byte 12 but the file holds 16 bytes of data"]),
    ("metadata_numbers", weights(packed({"__metadata__": {"a": 1}})), ["__metadata__ must be an object of strings"]),
    ("missing_tensor", weights(tensors(shapes(layers__0__ffn__in__weight=None))),
     ["spec.json:1:1: error: tensor 'layers.0.ffn.in.weight' [12, 8] is not in model.safetensors",
      "note: intermediate_size is 12 here", "note: hidden_size is 8 here"]),
    ("wrong_shape", weights(tensors(shapes(embed__weight=[16, 9]))),
     ["model.safetensors: error: tensor 'embed.weight' is [16, 9] but the model needs [16, 8]",
      "spec.json:4:17: note: hidden_size is 8 here"]),
    ("wrong_rank", weights(tensors(shapes(layers__0__ffn__out_norm__bias=[8, 1]))),
     ["tensor 'layers.0.ffn.out_norm.bias' is [8, 1] but the model needs [8]"]),
    ("wrong_dtype", weights(tensors(SHAPES, "I32")),
     ["tensor 'embed.weight' is I32 but weights are F32, F16, BF16 or F64", "tensor 'layers.0.ffn.out_norm.bias' is I32"]),
]
