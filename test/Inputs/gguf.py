"""Writes GGUF files, and says what blocks stand for. Standard library only, by
the format's description: it shares nothing with what it tests."""
import math
import random
import struct

U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, ARRAY, U64, I64, F64 = range(13)
FORMATS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f",
           BOOL: "?", U64: "Q", I64: "q", F64: "d"}


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def value(kind, content):
    if kind == TEXT:
        return text(content)
    if kind == ARRAY:
        of, entries = content
        return struct.pack("<IQ", of, len(entries)) + b"".join(
            value(of, entry) for entry in entries)
    return struct.pack("<" + FORMATS[kind], content)


def guessed(content):
    """(kind, content) of a Python value, as converters choose it."""
    if isinstance(content, tuple):
        return content
    if isinstance(content, bool):
        return BOOL, content
    if isinstance(content, int):
        return U32, content
    if isinstance(content, float):
        return F32, content
    if isinstance(content, list):
        of = guessed(content[0])[0] if content else U32
        return ARRAY, (of, [guessed(entry)[1] for entry in content])
    return TEXT, content


def file(keys, tensors, alignment=32, version=3, count=None):
    """keys: name -> value; tensors: name -> (type, shape outermost first,
    bytes)."""
    head = b"GGUF" + struct.pack("<IQQ", version,
                                 len(tensors) if count is None else count,
                                 len(keys))
    for name, content in keys.items():
        kind, content = guessed(content)
        head += text(name) + struct.pack("<I", kind) + value(kind, content)
    data = b""
    for name, (kind, shape, content) in tensors.items():
        data += b"\0" * (-len(data) % alignment)
        head += text(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", extent) for extent in shape[::-1])
        head += struct.pack("<IQ", kind, len(data))
        data += content
    return head + b"\0" * (-len(head) % alignment) + data


def f32(numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def single(number):
    """Rounded to f32, infinite beyond it."""
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def half(data):
    return struct.unpack("<e", data)[0]


# name: (number, numbers of a block, bytes, value of number i of a block)
LEVELS = [-127, -104, -83, -65, -49, -35, -22, -10,
          1, 13, 25, 38, 53, 69, 89, 113]
FP4 = [0, 1, 2, 3, 4, 6, 8, 12, -0.0, -1, -2, -3, -4, -6, -8, -12]


def nibble(data, i):
    return data[i] & 15 if i < 16 else data[i - 16] >> 4


def bit(data, i):
    return data[i // 8] >> i % 8 & 1


def q5(block, at, i):
    return nibble(block[at + 4:], i) + 16 * bit(block[at:], i)


def q2_k(b, i):
    part = b[i // 16]
    level = b[16 + i // 128 * 32 + i % 32] >> i // 32 % 4 * 2 & 3
    return half(b[80:82]) * (part & 15) * level - half(b[82:]) * (part >> 4)


def q3_k(b, i):
    scales = b[96:108]
    group = i // 16
    low = scales[group % 8] >> (4 if group >= 8 else 0) & 15
    high = scales[8 + group % 4] >> group // 4 * 2 & 3
    level = b[32 + i // 128 * 32 + i % 32] >> i // 32 % 4 * 2 & 3
    if not b[i % 32] >> i // 32 & 1:
        level -= 4
    return half(b[108:]) * (low + 16 * high - 32) * level


def six_bits(scales, part):
    if part < 4:
        return scales[part] & 63, scales[4 + part] & 63
    both = scales[4 + part]
    return ((both & 15) + 16 * (scales[part - 4] >> 6),
            (both >> 4) + 16 * (scales[part] >> 6))


def q45_k(b, i, at, fifth):
    part = i // 32
    scale, least = six_bits(b[4:16], part)
    byte = b[at + part // 2 * 32 + i % 32]
    level = (byte >> 4 if part % 2 else byte & 15) + 16 * fifth
    return half(b[:2]) * scale * level - half(b[2:4]) * least


def q6_k(b, i):
    within, most = i % 128, i // 128
    byte = b[most * 64 + within % 64]
    low = byte & 15 if within < 64 else byte >> 4
    high = b[128 + most * 32 + within % 32] >> within // 32 * 2 & 3
    scale = struct.unpack("b", b[192 + i // 16:193 + i // 16])[0]
    return half(b[208:]) * scale * (low + 16 * high - 32)


def iq4_xs(b, i):
    part = i // 32
    low = b[4 + part // 2] >> part % 2 * 4 & 15
    high = struct.unpack("<H", b[2:4])[0] >> part * 2 & 3
    level = LEVELS[nibble(b[8 + part * 16:24 + part * 16], i % 32)]
    return half(b[:2]) * (low + 16 * high - 32) * level


TYPES = {
    "F32": (0, 1, 4, lambda b, i: struct.unpack("<f", b)[0]),
    "F16": (1, 1, 2, lambda b, i: half(b)),
    "BF16": (30, 1, 2, lambda b, i: struct.unpack("<f", b"\0\0" + b)[0]),
    "Q4_0": (2, 32, 18, lambda b, i: half(b[:2]) * (nibble(b[2:], i) - 8)),
    "Q4_1": (3, 32, 20,
             lambda b, i: half(b[:2]) * nibble(b[4:], i) + half(b[2:4])),
    "Q5_0": (6, 32, 22, lambda b, i: half(b[:2]) * (q5(b, 2, i) - 16)),
    "Q5_1": (7, 32, 24, lambda b, i: half(b[:2]) * q5(b, 4, i) + half(b[2:4])),
    "Q8_0": (8, 32, 34,
             lambda b, i: half(b[:2]) * struct.unpack("b", b[2 + i:3 + i])[0]),
    "IQ4_NL": (20, 32, 18,
               lambda b, i: half(b[:2]) * LEVELS[nibble(b[2:], i)]),
    "MXFP4": (39, 32, 17,
              lambda b, i: math.ldexp(FP4[nibble(b[1:], i)], b[0] - 128)),
    "Q2_K": (10, 256, 84, q2_k),
    "Q3_K": (11, 256, 110, q3_k),
    "Q4_K": (12, 256, 144, lambda b, i: q45_k(b, i, 16, 0)),
    "Q5_K": (13, 256, 176,
             lambda b, i: q45_k(b, i, 48, b[16 + i % 32] >> i // 32 & 1)),
    "Q6_K": (14, 256, 210, q6_k),
    "IQ4_XS": (23, 256, 136, iq4_xs)}

# Where a block has its f16 numbers, and MXFP4 its exponent: random ones there
# would be infinite, or nothing beside each other.
HALVES = {"F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0],
          "Q5_1": [0, 2], "Q8_0": [0], "IQ4_NL": [0], "Q2_K": [80, 82],
          "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
          "IQ4_XS": [0]}


def random_block(name, draw):
    size = TYPES[name][2]
    if name in ("F32", "BF16"):
        return struct.pack("<f", draw.uniform(-0.2, 0.2))[-size:]
    block = bytearray(draw.randbytes(size))
    for at in HALVES.get(name, []):
        block[at:at + 2] = struct.pack("<e", draw.uniform(-1, 1) * 2 ** -9)
    if name == "MXFP4":
        block[0] = draw.randint(119, 122)
    return bytes(block)


def random_tensor(name, shape, seed):
    """((type, shape, bytes), the f32 numbers that it stands for)."""
    draw = random.Random(seed)
    kind, length, size, number = TYPES[name]
    blocks = [random_block(name, draw)
              for _ in range(math.prod(shape) // length)]
    numbers = [single(number(block, i)) for block in blocks
               for i in range(length)]
    return (kind, shape, b"".join(blocks)), numbers
