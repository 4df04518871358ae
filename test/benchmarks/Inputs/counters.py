# The counters of each benchmark in a JSON report: finite, above 0.
import json
import math
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
for one in report["benchmarks"]:
    counters = {name: one[name] for name in one
                if name in ("us", "GFLOPs", "peak", "peak%", "GB/s", "bandwidth",
                            "bandwidth%")}
    assert all(math.isfinite(value) and value > 0 for value in counters.values()), one
    print("%s: %s" % (one["name"], " ".join(sorted(counters))))
