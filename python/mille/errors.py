"""An exception class for each status of mille.h, with its sentence."""
from __future__ import annotations

import errno
import os


class Error(Exception):
    """What all of Mille's exceptions inherit."""


class InvalidArgument(Error, ValueError):
    """An array or a number does not fit the package: correct the call."""


class TooLarge(Error, ValueError):
    """The run is larger than the session allows: make a larger session."""


class OutOfMemory(Error, MemoryError):
    """Memory or a thread was refused."""


class FileError(Error, OSError):
    """A file is missing or cannot be read or written: what is known of the
    reason is the class below it, and `errno`."""


class MissingFile(FileError, FileNotFoundError):
    """There is nothing at the path."""


class NotAFolder(FileError, NotADirectoryError):
    """A part of the path is a file."""


class NoPermission(FileError, PermissionError):
    """This user may not read or write there."""


class BadWeights(Error, ValueError):
    """The weights file is damaged, too new, or another model's."""


class UnsupportedCpu(Error, RuntimeError):
    """This CPU lacks an instruction set: compile for another target."""


class Cancelled(Error, RuntimeError):
    """`cancel` was called: a session's outputs are undefined, the weights of a
    trainer are as before the step."""


class InternalError(Error, RuntimeError):
    """A bug of Mille's: please report the message."""


class NoDevice(Error, RuntimeError):
    """A back end has no library or no device."""


# By the number that mille_status has in mille.h.
by_status = {3: TooLarge, 4: OutOfMemory, 6: BadWeights, 7: UnsupportedCpu,
             8: Cancelled, 9: InternalError, 10: NoDevice}
by_errno = {errno.ENOENT: MissingFile, errno.ENOTDIR: NotAFolder,
            errno.EACCES: NoPermission, errno.EPERM: NoPermission}


def file_error(sentence: str) -> FileError:
    """The FileError of a sentence that ends in what strerror says, or has it
    before a semicolon."""
    for number in errno.errorcode:
        if f": {os.strerror(number)};" in f"{sentence};":
            error = by_errno.get(number, FileError)(sentence)
            error.errno = number
            return error
    return FileError(sentence)


def of_status(status: int, sentence: str) -> Error:
    """The exception of a status of mille.h."""
    if status == 5:
        return file_error(sentence)
    return by_status.get(status, InvalidArgument)(sentence)
