"""A package and its sessions, through libmille_loader, by the standard library and
NumPy alone: for machines that have a device but no Mille. Must not compile."""
import ctypes as c
import json
import struct

import numpy

STATUS_OK = 0


class Tensor(c.Structure):
    _fields_ = [("name", c.c_char_p), ("type", c.c_int), ("rank", c.c_int),
                ("shape", c.c_int64 * 4), ("sizes", c.c_char_p * 4),
                ("optional", c.c_int), ("below", c.c_int64)]


class Size(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_int64)]


class EntryInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("inputs", c.c_size_t),
                ("outputs", c.c_size_t), ("states", c.c_size_t)]


class Profile(c.Structure):
    _fields_ = [("name", c.c_char_p), ("calls", c.c_uint64),
                ("nanoseconds", c.c_uint64), ("flops", c.c_uint64),
                ("weight_bytes", c.c_uint64)]


FORMATS = {"F64": "f8", "F32": "f4", "I64": "i8", "I32": "i4", "U8": "u1"}


def read_tensors(path):
    """name -> array, of a safetensors file."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    return {name: numpy.frombuffer(data[slice(*of["data_offsets"])],
                                   FORMATS[of["dtype"]]).reshape(of["shape"])
            for name, of in header.items() if name != "__metadata__"}


class Refusal(Exception):
    """What the runtime said."""


class Entry:
    """A function of a package: its number, inputs and outputs."""

    def __init__(self, package, name):
        api, number, info = package.api, c.c_size_t(), EntryInfo()
        if name is not None and api.mille_package_find_entry(
                package.handle, name.encode(), c.byref(number)):
            raise Refusal(api.mille_package_message(package.handle).decode())
        api.mille_package_entry(package.handle, number, c.byref(info))
        self.number = number
        self.inputs, self.outputs = [Tensor() for _ in range(info.inputs)], [
            Tensor() for _ in range(info.outputs)]
        for kind, tensors in ("input", self.inputs), ("output", self.outputs):
            for i, tensor in enumerate(tensors):
                getattr(api, f"mille_package_entry_{kind}")(
                    package.handle, number, c.c_size_t(i), c.byref(tensor))


class Package:
    """An opened package. `folder` holds NAME.so and NAME.weights."""

    def __init__(self, loader, folder):
        self.api = c.CDLL(loader)
        self.api.mille_package_message.restype = c.c_char_p
        self.api.mille_session_message.restype = c.c_char_p
        for release in self.api.mille_package_close, self.api.mille_session_close:
            release.argtypes = [c.c_void_p]
        self.handle = c.c_void_p()
        text = c.create_string_buffer(512)
        if self.api.mille_package_open_folder(folder.encode(), None,
                                              c.byref(self.handle), text, 512):
            raise Refusal(text.value.decode())
        self.first = self.entry(None)
        self.inputs, self.outputs = self.first.inputs, self.first.outputs

    def entry(self, name):
        """The entry of that name; None: the first one."""
        return Entry(self, name)

    def sizes_of(self, values, entry=None):
        """The sizes of a run with these inputs."""
        sizes = {}
        for tensor in (entry or self.first).inputs:
            name = tensor.name.decode()
            for d in range(tensor.rank if name in values else 0):
                if tensor.sizes[d]:
                    sizes[tensor.sizes[d].decode()] = values[name].shape[d]
        return {name: value for name, value in sizes.items() if self._is_given(name)}

    def most_of(self, name):
        """The most that a session may have of a size; None: any number, or no such."""
        return self._sizes().get(name) or None

    def _is_given(self, name):
        return name in self._sizes()

    def _sizes(self):
        """The package's sizes and their limits, 0 where there is none."""
        sizes, count = {}, c.c_size_t()
        self.api.mille_package_size_count(self.handle, c.byref(count))
        most = c.c_int64()
        for i in range(count.value):
            text = c.c_char_p()
            self.api.mille_package_size(self.handle, c.c_size_t(i), c.byref(text),
                                        c.byref(most))
            if text.value:
                sizes[text.value.decode()] = most.value
        return sizes

    def close(self):
        self.api.mille_package_close(self.handle)


def on_host(shape):
    value = numpy.full(shape, numpy.nan, "f4")
    return value, value.ctypes.data


def size_array(sizes):
    return (Size * len(sizes))(*[Size(n.encode(), v) for n, v in sizes.items()])


class Session:
    """A session for runs of up to `sizes`; device: "cuda", "cuda:1", ..."""

    def __init__(self, package, sizes, device, threads=1):
        self.package = package
        self.api = package.api
        self.handle = c.c_void_p()
        if self.api.mille_session_create_on(
                package.handle, size_array(sizes), c.c_size_t(len(sizes)), threads,
                device.encode(), c.byref(self.handle)):
            raise Refusal(
                self.api.mille_package_message(package.handle).decode())

    def bind(self, values, sizes, place=None, entry=None):
        """Prepares a run; returns the outputs by name. place: gives an output of a
        shape and its address, which may be a device's."""
        place = place or on_host
        entry = entry or self.package.first
        arrays = []
        for tensor in entry.inputs:
            value = values.get(tensor.name.decode())
            if value is not None:
                value = numpy.ascontiguousarray(value,
                                                ("i4", "f4")[tensor.type])
            arrays.append(value)
        results, addresses = {}, []
        for tensor in entry.outputs:
            value, address = place(
                [self._extent(tensor, d, sizes) for d in range(tensor.rank)])
            results[tensor.name.decode()] = value
            addresses.append(address)
        given = [None if a is None else a.ctypes.data for a in arrays]
        self.bound = (entry.number, size_array(sizes), c.c_size_t(len(sizes)),
                      (c.c_void_p * len(given))(*given),
                      (c.c_void_p * len(addresses))(*addresses))
        self.kept = arrays, results
        return results

    def _extent(self, tensor, d, sizes):
        if not tensor.sizes[d]:
            return tensor.shape[d]
        name = tensor.sizes[d]
        if name.decode() in sizes:
            return sizes[name.decode()]
        value = c.c_int64()
        self.api.mille_package_size_value(self.package.handle, size_array(sizes),
                                          c.c_size_t(len(sizes)), name,
                                          c.byref(value))
        return value.value

    def run(self):
        if self.api.mille_session_run_entry(self.handle, *self.bound):
            raise Refusal(self.api.mille_session_message(self.handle).decode())

    def one_by_one(self):
        """From now on the host waits for each kernel."""
        self.api.mille_session_profile(self.handle, 1)

    def profile(self, runs):
        """Milliseconds a run and calls a run of each kernel, the longest first."""
        self.one_by_one()
        for _ in range(runs):
            self.run()
        count, of = c.c_size_t(), Profile()
        self.api.mille_session_kernel_count(self.handle, c.byref(count))
        kernels = []
        for i in range(count.value):
            self.api.mille_session_kernel(self.handle, c.c_size_t(i), c.byref(of))
            kernels.append((of.nanoseconds / runs / 1e6, of.calls / runs,
                            of.name.decode()))
        self.api.mille_session_profile(self.handle, 0)
        return sorted(kernels, reverse=True)

    def close(self):
        self.api.mille_session_close(self.handle)
