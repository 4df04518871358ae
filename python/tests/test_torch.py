"""Mille and torch in one process, where torch is installed. MILLE: the command;
SPEC: a small model."""
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

# Both work before, beside and after each other, and give the same bits.
CODE = """
import concurrent.futures, {imports}

mille, torch = sys.modules["mille"], sys.modules["torch"]
package = mille.load(sys.argv[1])
ids = torch.tensor([[1, 7, 5, 7, 2]], dtype=torch.int32)
a = torch.randn(256, 256)

def run(count):
    session = package.session(batch=1, tokens=8, threads=2)
    out = [torch.empty(*array.shape) for array in
           session(input_ids=ids).values()]
    for _ in range(count):
        session(input_ids=ids, out=dict(zip(names, out)))
    return out[0]

def multiply(count):
    for _ in range(count):
        product = a @ a
    return product

names = [tensor.name for tensor in package.outputs]
alone, product = run(1), multiply(1)
assert torch.isfinite(alone).all() and alone.std() > 0
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    work = [pool.submit(run if i % 2 else multiply, 200) for i in range(8)]
    for i, one in enumerate(work):
        assert torch.equal(one.result(), alone if i % 2 else product), i

# An array of torch is read and written where it is.
session = package.session(batch=1, tokens=8, threads=1)
out = torch.zeros(*alone.shape)
result = session(input_ids=ids, out={{names[0]: out}})
assert torch.equal(out, alone)
layer = torch.nn.Linear(alone.shape[-1], 3)
layer(out).sum().backward()
assert torch.isfinite(layer.weight.grad).all()
wide = session(input_ids=ids.long())[names[0]]
assert torch.equal(torch.from_dlpack(wide), alone)
"""


@pytest.mark.parametrize("imports", ["sys, mille, torch", "sys, torch, mille"])
def test_one_process(imports, tmp_path):
    package = tmp_path / "package"
    subprocess.run([os.environ["MILLE"], "compile", os.environ["SPEC"],
                    "-o", package], check=True)
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(imports=imports), package],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
