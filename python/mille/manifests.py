"""NAME.json, in which the compiler says what a package holds. Must not open
the package."""
import json

from .errors import InvalidArgument, file_error


def read(path):
    """The part "mille_package" of the file `path`."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["mille_package"]
    except OSError as error:
        raise file_error(f"{path}: {error.strerror}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise InvalidArgument(f"{path} is no manifest: {error}") from error
