"""Mille: a package through the C interface of its shared library, on the CPU or, of
the variant opencl, on a device. Needs nothing but Python."""
import ctypes
import json
import os

from peers import Refused

VERSION = ""  # what `mille --version` says


def check(status, message):
    if status:
        raise Refused(message.decode())


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int),
                ("rank", ctypes.c_int), ("shape", ctypes.c_int64 * 4),
                ("sizes", ctypes.c_char_p * 4), ("optional", ctypes.c_int), ("below", ctypes.c_int64)]


class Size(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_int64)]


class Device(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 128), ("version", ctypes.c_char * 128),
                ("driver", ctypes.c_char * 64), ("kind", ctypes.c_int),
                ("units", ctypes.c_uint32), ("megahertz", ctypes.c_uint32),
                ("features", ctypes.c_uint64), ("memory_bytes", ctypes.c_uint64),
                ("largest_buffer", ctypes.c_uint64),
                ("local_bytes", ctypes.c_uint64), ("group_items", ctypes.c_uint64)]


def tensors(library, package, kind):
    count = ctypes.c_size_t()
    getattr(library, "mille_package_%s_count" % kind)(package, ctypes.byref(count))
    described = []
    for index in range(count.value):
        tensor = Tensor()
        getattr(library, "mille_package_" + kind)(
            package, ctypes.c_size_t(index), ctypes.byref(tensor))
        described.append(tensor)
    return described


class Peer:
    def __init__(self, case, encoder):
        folder = case["package"]
        manifest = next(name for name in os.listdir(folder)
                        if name.endswith(".json"))
        stem = os.path.join(folder, manifest[:-len(".json")])
        with open(stem + ".json") as file:
            name = json.load(file)["mille_package"]["name"]
        self.library = library = ctypes.CDLL(stem + ".so")
        for function in ["mille_package_message", "mille_session_message"]:
            getattr(library, function).restype = ctypes.c_char_p
        model = getattr(library, name + "_model")
        model.restype = ctypes.c_void_p
        package, message = ctypes.c_void_p(), ctypes.create_string_buffer(512)
        check(library.mille_package_open(
            ctypes.c_void_p(model()), (stem + ".weights").encode(), None,
            ctypes.byref(package), message, ctypes.c_size_t(512)), message.value)
        self.session = ctypes.c_void_p()
        self.sizes = [ctypes.c_int64(case["batch"]), ctypes.c_int64(case["tokens"])]
        most = (Size * 2)((b"batch", case["batch"]), (b"tokens", case["tokens"]))
        device = case["variant"].encode() or None
        check(library.mille_session_create_on(
            package, most, ctypes.c_size_t(2), ctypes.c_int(case["threads"]), device,
            ctypes.byref(self.session)), library.mille_package_message(package))
        if device:
            self._measure(case["dtype"], package)
        self._bind(case, package)

    def _measure(self, dtype, package):
        """The peak of the device."""
        device, f32, i32 = Device(), ctypes.c_double(), ctypes.c_double()
        check(self.library.mille_session_measure_device(
            self.session, ctypes.byref(device), ctypes.byref(f32),
            ctypes.byref(i32)), self.library.mille_package_message(package))
        self.device = device.name.decode()
        self.peak_gflops = (i32 if dtype == "int8" else f32).value

    def _bind(self, case, package):
        given = {"input_ids": case["ids"], "attention_mask": case["mask"]}
        inputs = tensors(self.library, package, "input")
        self.inputs = (ctypes.c_void_p * len(inputs))()
        self.kept = []
        for index, tensor in enumerate(inputs):
            path = given.get(tensor.name.decode())
            if path:
                with open(path, "rb") as file:
                    self.kept.append(ctypes.create_string_buffer(file.read()))
                self.inputs[index] = ctypes.addressof(self.kept[-1])
        outputs = tensors(self.library, package, "output")
        self.outputs = (ctypes.c_void_p * len(outputs))()
        extents = {b"batch": case["batch"], b"tokens": case["tokens"]}
        for index, tensor in enumerate(outputs):
            size = 1
            for extent, name in zip(tensor.shape[:tensor.rank], tensor.sizes):
                size *= extents[name] if name else extent
            self.kept.append((ctypes.c_float * size)())
            self.outputs[index] = ctypes.addressof(self.kept[-1])
            if tensor.name == b"last_hidden_state":
                self.result = self.kept[-1]

    def run(self):
        check(self.library.mille_session_run(self.session, *self.sizes,
                                             self.inputs, self.outputs),
              self.library.mille_session_message(self.session))

    def output(self):
        return bytes(self.result)
