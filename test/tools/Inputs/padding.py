"""padding.py REMOVED COMPUTED MASK: the one tensor of both files has the same bits
in rows that the mask shows, and is 0 in REMOVED, not in COMPUTED, in the others."""
import json
import struct
import sys


def rows_of(path, count):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    (entry,) = [e for name, e in header.items() if name != "__metadata__"]
    begin, end = entry["data_offsets"]
    size = (end - begin) // count
    return [data[begin + i * size:begin + (i + 1) * size] for i in range(count)]


mask = sys.argv[3].split(",")
pairs = zip(rows_of(sys.argv[1], len(mask)), rows_of(sys.argv[2], len(mask)))
for row, (shown, (removed, computed)) in enumerate(zip(mask, pairs)):
    assert any(computed), f"row {row} is 0 though padding is computed"
    expected = computed if shown == "1" else bytes(len(computed))
    assert removed == expected, f"row {row} differs"
