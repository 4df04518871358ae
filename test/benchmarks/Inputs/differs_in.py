# The lines of a table, and a page's section, with a peer that computes otherwise and
# says in what.
import sys

sys.path.insert(0, sys.argv[1])
import page  # noqa: E402
import tables  # noqa: E402

same = {"name": "mille", "rounds": [[1.0]], "ratio": 1.0, "difference": 1e-7,
        "away": 0.0, "agrees": True, "device": None, "differs_in": None}
other = dict(same, name="llama.cpp", difference=1e-3, agrees=False,
             differs_in="its GELU is another")
table = {
    "title": "A title", "dtype": "f32", "threads": 1, "gflop": 1.0,
    "peak_gflops": None, "round_trip_ns": None, "compared_with": "torch eager",
    "rows": [same, other]}
print("\n".join(tables.lines(table) + page.otherwise({"tables": [table, table]})))
