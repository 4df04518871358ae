"""Every public name is typed and says what it is, those of the module in C++ too.
Nothing runs here: the sources are read, and the stub of that module."""
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
    # What Python itself calls is known by its name, but for calls of an object.
    if not ast.get_docstring(node) and (node.name == "__call__" or
                                        not node.name.endswith("__")):
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


def stub():
    """What editors read of the module in C++: the wheel's, or made anew."""
    written = ROOT / "_mille.pyi"
    if written.exists():
        return written.read_text(encoding="utf-8")
    from nanobind.stubgen import StubGen
    made = StubGen(mille._mille, recursive=False)
    made.put(mille._mille)
    return made.get()


def unsaid(module):
    """Functions of a stub that take or give an object of any kind, or a
    container of that, where a type could be said."""
    for node in ast.walk(module):
        if not isinstance(node, FUNCTIONS):
            continue
        types = [one.annotation for one in node.args.args + node.args.kwonlyargs]
        for one in filter(None, [*types, node.returns]):
            if ast.unparse(one) in ("object", "object | None", "list", "dict",
                                    "tuple"):
                yield node.name, f"more than the type {ast.unparse(one)}"


def test_the_module_in_cpp():
    module = ast.parse(stub())
    missing = list(found(module.body, "_mille")) + list(unsaid(module))
    assert not missing, "\n".join(f"{name} lacks {what}"
                                  for name, what in missing)
    names = {node.name for node in ast.walk(module)
             if isinstance(node, FUNCTIONS)}
    assert {"session", "generation", "__call__", "sample", "fork"} <= names


def test_errors_of_cpp_are_said():
    """A function that takes something can refuse it, and says by which
    exception."""
    for kind in ast.parse(stub()).body:
        for node in getattr(kind, "body", []):
            if isinstance(node, FUNCTIONS) and len(node.args.args) > 1 and \
                    public(node.name):
                said = ast.get_docstring(kind if node.name == "__init__"
                                         else node)
                assert any(f"{name}:" in said or "Errors as for" in said
                           or "errors as" in said for name in
                           ("InvalidArgument", "TooLarge", "FileError")), \
                    f"{kind.name}.{node.name}"


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
