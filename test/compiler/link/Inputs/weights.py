# Reads a weights file as runtime/abi_weights.h says: weights.py FILE NAME.
import struct
import sys

data = open(sys.argv[1], "rb").read()
magic, version, reserved, total, digest, table, count, start, name = \
    struct.unpack_from("<8sIIQQQQQ64s", data)
assert magic == b"MILLEWT\1" and version == 1 and reserved == 0
assert total == len(data) and total % 64 == 0, total
assert name.rstrip(b"\0").decode() == sys.argv[2], name
assert table == 120 and start % 64 == 0 and start >= table + 8 * count

value = 14695981039346656037
for (word,) in struct.iter_unpack("<Q", data[120:]):
    value = (value ^ word) * 1099511628211 % 2**64
assert value == digest, (value, digest)

# Body numbers are small; every offset is aligned and inside.
for entry in struct.unpack_from(f"<{count}Q", data, table):
    assert entry < 16 or entry % 64 == 0, entry
    assert start + entry < total, entry
