"""An exception class for each status of mille.h, with the runtime's sentence."""


class Error(Exception):
    """What all of Mille's exceptions inherit."""


class InvalidArgument(Error, ValueError):
    """An array or a number does not fit the package: correct the call."""


class TooLarge(Error, ValueError):
    """The run is larger than the session allows: make a larger session."""


class OutOfMemory(Error, MemoryError):
    """Memory or a thread was refused."""


class FileError(Error, FileNotFoundError):
    """A file of the package is missing or cannot be read."""


class BadWeights(Error, ValueError):
    """The weights file is damaged, too new, or another model's."""


class UnsupportedCpu(Error, RuntimeError):
    """This CPU lacks an instruction set: compile for another target."""


class Cancelled(Error, RuntimeError):
    """Session.cancel was called: the outputs are undefined."""


class InternalError(Error, RuntimeError):
    """A bug of Mille's: please report the message."""


class NoDevice(Error, RuntimeError):
    """A back end has no library or no device."""


# By the number that mille_status has in mille.h.
by_status = {3: TooLarge, 4: OutOfMemory, 5: FileError, 6: BadWeights,
             7: UnsupportedCpu, 8: Cancelled, 9: InternalError, 10: NoDevice}
