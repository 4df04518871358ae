# flip.py PACKAGE NAME BYTES: every byte of the header and the table of the
# weights file is changed in three ways; the package then gives the bits that it
# gives with the file as it is, or refuses the file. BYTES random bytes behind them
# are changed too, which only the hash sees. Prints how many were refused.
import ctypes
import os
import random
import struct
import sys

folder, name, behind = sys.argv[1], sys.argv[2], int(sys.argv[3])
library = ctypes.CDLL(f"{os.path.abspath(folder)}/{name}.so")
model = getattr(library, name + "_model")
model.restype = ctypes.c_void_p
path = f"{folder}/{name}.weights"
bad_weights, tokens = 6, 5


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("hooks", ctypes.c_void_p * 5),
                ("verify_hash", ctypes.c_int), ("isa", ctypes.c_char_p),
                ("hidden", ctypes.c_uint64), ("copy_weights", ctypes.c_int)]


def run(verify=0, copy=0):
    """The bits of the outputs, or the message of a refusal."""
    options = Options(ctypes.sizeof(Options), (ctypes.c_void_p * 5)(), verify,
                      None, 0, copy)
    package, session = ctypes.c_void_p(), ctypes.c_void_p()
    message = ctypes.create_string_buffer(512)
    status = library.mille_package_open(
        ctypes.c_void_p(model()), path.encode(), ctypes.byref(options),
        ctypes.byref(package), message, ctypes.c_size_t(512))
    if status:
        assert status == bad_weights, (status, message.value)
        assert path in message.value.decode(), message.value
        return message.value.decode()
    assert not library.mille_session_create(package, ctypes.c_int64(1),
                                            ctypes.c_int64(tokens), 1,
                                            ctypes.byref(session))
    ids = (ctypes.c_int32 * tokens)(3, 1, 4, 1, 5)
    count = ctypes.c_size_t()
    library.mille_package_input_count(package, ctypes.byref(count))
    inputs = (ctypes.c_void_p * count.value)(ctypes.addressof(ids))
    library.mille_package_output_count(package, ctypes.byref(count))
    buffers = [(ctypes.c_float * 100000)() for _ in range(count.value)]
    outputs = (ctypes.c_void_p * count.value)(*map(ctypes.addressof, buffers))
    status = library.mille_session_run(session, ctypes.c_int64(1),
                                       ctypes.c_int64(tokens), inputs, outputs)
    assert not status, status
    library.mille_session_close(session)
    library.mille_package_close(package)
    return b"".join(bytes(buffer) for buffer in buffers)


whole = open(path, "rb").read()
data_offset = struct.unpack_from("<Q", whole, 48)[0]
good = run()
assert isinstance(good, bytes) and good == run(verify=1) == run(copy=1)
refused = harmless = 0
with open(path, "r+b", buffering=0) as file:
    def change(at, mask, **how):
        os.pwrite(file.fileno(), bytes([whole[at] ^ mask]), at)
        result = run(**how)
        os.pwrite(file.fileno(), whole[at:at + 1], at)
        return result

    for at in range(data_offset):
        for mask in (1, 0x80, 0xff):
            result = change(at, mask, copy=mask & 1)
            if isinstance(result, bytes):
                assert result == good, f"byte {at} changes the numbers"
                harmless += 1
            else:
                refused += 1
    draw = random.Random(1)
    for _ in range(behind):
        result = change(draw.randrange(data_offset, len(whole)),
                        1 << draw.randrange(8), verify=1)
        assert "the file is damaged" in result, result
assert open(path, "rb").read() == whole
# The reserved word, and what follows the name.
assert harmless == 3 * (4 + 63 - len(name)), harmless
print(f"{refused} of {3 * data_offset} refused, {harmless} harmless, "
      f"{behind} found by the hash")
