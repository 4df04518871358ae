"""NAME.json, in which the compiler says what a package holds. Must not open
the package."""
from __future__ import annotations

import json

from .errors import InvalidArgument, file_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .hints import Path


def read(path: Path) -> dict[str, Any]:
    """The part "mille_package" of the file `path`."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["mille_package"]
    except OSError as error:
        raise file_error(f"{path}: {error.strerror}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise InvalidArgument(f"{path} is no manifest: {error}") from error
