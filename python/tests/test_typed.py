"""Every public name is typed and says what it is. Nothing runs here: the sources
are read."""
import ast
import pathlib

import pytest

import mille

ROOT = pathlib.Path(mille.__file__).parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def public(name):
    """Names that a caller may use; __call__ and __init__ among them."""
    return not name.startswith("_") or name.endswith("__")


def lacks(node, inside):
    """What a function lacks."""
    given = node.args
    named = given.posonlyargs + given.args + given.kwonlyargs
    static = any(getattr(one, "id", "") == "staticmethod"
                 for one in node.decorator_list)
    if inside and not static:
        named = named[1:]  # self
    named += [one for one in (given.vararg, given.kwarg) if one]
    for one in named:
        if one.annotation is None:
            yield f"the type of {one.arg}"
    if node.returns is None and node.name != "__init__":
        yield "the type of its result"
    # What Python itself calls is known by its name.
    if not ast.get_docstring(node) and not node.name.endswith("__"):
        yield "a docstring"


def found(body, where, inside=False):
    """(name, what it lacks) of the public names of a module or a class."""
    for node in body:
        if not public(getattr(node, "name", "_")):
            continue
        name = f"{where}.{node.name}"
        if isinstance(node, FUNCTIONS):
            for what in lacks(node, inside):
                yield name, what
        elif isinstance(node, ast.ClassDef):
            if not ast.get_docstring(node):
                yield name, "a docstring"
            yield from found(node.body, name, inside=True)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")),
                         ids=lambda path: path.relative_to(ROOT).as_posix())
def test_typed(path):
    module = ast.parse(path.read_text(encoding="utf-8"))
    missing = list(found(module.body, path.stem))
    if not ast.get_docstring(module):
        missing.append((path.stem, "a docstring"))
    assert not missing, "\n".join(f"{name} lacks {what}"
                                  for name, what in missing)


def test_what_is_missing_is_seen():
    """The walk above finds what lacks."""
    text = ("class A:\n"
            "    def f(self, a, *, b: int = 3, **c) -> int:\n"
            "        'Says it.'\n"
            "    async def g(self) -> int: ...\n"
            "    def _h(self, a): ...\n"
            "def k(a: int):\n"
            "    'Says it.'\n")
    assert list(found(ast.parse(text).body, "m")) == [
        ("m.A", "a docstring"), ("m.A.f", "the type of a"),
        ("m.A.f", "the type of c"), ("m.A.g", "a docstring"),
        ("m.k", "the type of its result")]
