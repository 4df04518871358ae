"""The command `mille`, a program of its own with LLVM, MLIR and Halide beside
it: nothing of them is loaded into this process."""
import os
import sys

__version__ = "0.1.0"


def command():
    """The path of the program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin",
                        "mille")


def main():
    """Becomes the program; `serve` is the wheel mille's."""
    if sys.argv[1:2] == ["serve"]:
        try:
            from mille.serving import main as serve
        except ImportError:
            sys.exit("mille serve: needs more packages: "
                     "pip install 'mille[serve]'")
        sys.exit(serve(sys.argv[2:]))
    os.execv(command(), ["mille", *sys.argv[1:]])
