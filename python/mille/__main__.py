"""`python -m mille serve`; every other word is the command's."""
from __future__ import annotations

import os
import sys


def main() -> int:
    """The exit status of the words of the process."""
    words = sys.argv[1:]
    if words[:1] == ["serve"]:
        from .serving import main as serve
        return serve(words[1:])
    from .compiling import command
    program = command()
    os.execv(program, ["mille", *words])


if __name__ == "__main__":
    sys.exit(main())
