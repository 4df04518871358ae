"""Mille beside torch, jax or Halide in one process, where they are installed.
MILLE: the command; SPEC: a small model."""
import importlib.util
import os
import subprocess
import sys

import pytest

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


# Each brings an LLVM or kernels of its own, which run beside Mille's.
BESIDE = """
import numpy as np, {imports}

package = sys.modules["mille"].load(sys.argv[1])
ids = np.array([[1, 7, 5, 7, 2]], np.int32)

def run(ids):
    session = package.session(batch=1, tokens=8, threads=2)
    return next(iter(session(input_ids=ids).values()))

alone = run(ids)
assert np.isfinite(alone).all() and alone.std() > 0
for _ in range(3):
{other}
    assert np.array_equal(run(ids), alone)
"""
OTHERS = {
    "jax": """
    numbers = jax.jit(lambda x: jax.numpy.tanh(x).sum())(alone)
    assert np.isclose(numbers, np.tanh(alone).sum(), rtol=1e-4)
    assert np.array_equal(run(jax.numpy.asarray(ids)), alone)
    assert np.array_equal(jax.dlpack.from_dlpack(alone), alone)
""",
    "halide": """
    x, function = halide.Var("x"), halide.Func("function")
    function[x] = x * x
    made = np.asarray(function.realize([5]))
    assert (made == np.arange(5) ** 2).all()
"""}


def check(code, tmp_path):
    package = tmp_path / "package"
    subprocess.run([os.environ["MILLE"], "compile", os.environ["SPEC"],
                    "--target=host", "-o", package], check=True)
    done = subprocess.run([sys.executable, "-c", code, package],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def wants(name):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("imports", ["sys, mille, torch", "sys, torch, mille"])
def test_one_process(imports, tmp_path):
    wants("torch")
    check(CODE.format(imports=imports), tmp_path)


@pytest.mark.parametrize("imports", ["sys, mille, {0}", "sys, {0}, mille"])
@pytest.mark.parametrize("name", OTHERS)
def test_beside(name, imports, tmp_path):
    wants(name)
    check(BESIDE.format(imports=imports.format(name), other=OTHERS[name]),
          tmp_path)
