"""read_share.py ONE SEVERAL COUNT CONTEXT: what `mille bench --json` says that steps of one
and of COUNT sequences of gemma3_text read behind CONTEXT tokens, of 3 layers of bf16 keys
and values of 8 columns, and a mask of 4 bytes.
"""
import json
import sys

one, several = (json.load(open(path)) for path in sys.argv[1:3])
count, context = map(int, sys.argv[3:])
for said in (one, several):
    share = said["read_bytes"] / said["median_ms"] / 1e6 / said["read_gb_per_s"]
    assert abs(share / said["bandwidth_share"] - 1) < 1e-4, said
held = context * (2 * 3 * 8 * 2 + 4)
assert abs(several["read_bytes"] - one["read_bytes"] - (count - 1) * held) < 1, \
    (one, several)
assert one["read_bytes"] > 2 * held
