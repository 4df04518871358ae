# What agreement.py takes for the same, on numbers a known way apart.
import array
import sys

sys.path.insert(0, sys.argv[1])
import agreement  # noqa: E402

expected = array.array("f", [1.0, -2.0, 0.5, 0.25])


def judge(name, dtype, numbers):
    difference, away = agreement.compare(array.array("f", numbers), expected)
    print("%s: %s" % (name, agreement.agrees(dtype, difference, away)))


judge("f32 1e-05", "f32", [1.0, -2.00002, 0.5, 0.25])
judge("f32 1e-02", "f32", [1.0, -2.02, 0.5, 0.25])
judge("bf16 1e-02", "bf16", [1.0, -2.02, 0.5, 0.25])
judge("another length", "f32", [1.0])
judge("not a number", "int8", [1.0, float("nan"), 0.5, 0.25])
