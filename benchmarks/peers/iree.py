"""IREE for this CPU, f32 or all in bf16, from JAX's StableHLO. A folder's weights are constants,
so that it may pack them; a spec's layers are a scan over arguments."""
import importlib.metadata
import os
import time

import numpy as np
import iree.compiler
import iree.runtime

from peers import Refused, read_integers

VERSION = importlib.metadata.version("iree-base-compiler")
FLAGS = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3",
         # Without it IREE refuses graphs because of their stack use.
         "--iree-llvmcpu-fail-on-out-of-bounds-stack-allocation=false"]


def stablehlo(encoder, scanned, dtype, inputs, path):
    import jax
    import jax_function
    function = jax_function.function(encoder, scanned)
    weights = jax_function.weights(encoder, scanned, dtype)
    shapes = [jax.ShapeDtypeStruct(array.shape, np.int32) for array in inputs]
    if scanned:
        taken = jax.tree.map(
            lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype), weights)
        lowered = jax.jit(function).lower(*taken, *shapes)
    else:
        weights = jax.tree.map(jax.numpy.asarray, weights)
        lowered = jax.jit(lambda *given: function(*weights, *given)).lower(*shapes)
    with open(path, "wb") as file:
        lowered.compiler_ir("stablehlo").operation.write_bytecode(file)


def module(case, encoder, scanned, inputs):
    """Its path, and the seconds that an earlier compile took (0: compiles now)."""
    path = os.path.join(case["work"], "iree-%s-%dx%d%s.vmfb" % (
        case["dtype"], case["batch"], case["tokens"],
        "-masked" if case["mask"] else ""))
    noted = path + ".seconds"
    if os.path.exists(noted):
        with open(noted) as file:
            return path, float(file.read())
    source = path.replace(".vmfb", ".mlirbc")
    stablehlo(encoder(), scanned, case["dtype"], inputs, source)
    start = time.perf_counter()
    iree.compiler.compile_file(source, input_type="stablehlo",
                               target_backends=["llvm-cpu"], output_file=path,
                               extra_args=FLAGS)
    with open(noted, "w") as file:
        file.write("%f" % (time.perf_counter() - start))
    os.remove(source)
    return path, 0.0


class Peer:
    def __init__(self, case, encoder):
        if case["dtype"] == "int8":
            raise Refused("it has no quantisation of its own")
        scanned = not os.path.isdir(case["model"])
        inputs = [read_integers(case, name, np.int32)
                  for name in ["ids", "mask"] if case[name]]
        config = iree.runtime.Config(
            "local-sync" if case["threads"] == 1 else "local-task")
        context = iree.runtime.SystemContext(config=config)
        path, self.compiled_before = module(case, encoder, scanned, inputs)
        context.add_vm_module(iree.runtime.VmModule.mmap(context.instance, path))
        name = next(key for key in context.modules.keys() if key != "hal")
        self.function = context.modules[name]["main"]
        arrays = inputs
        if scanned:
            import jax
            import jax_function
            arrays = jax.tree.leaves(jax_function.weights(
                encoder(), True, case["dtype"])) + arrays
        self.arguments = [iree.runtime.asdevicearray(config.device, array)
                          for array in arrays]

    def run(self):
        self.result = self.function(*self.arguments).to_host()

    def output(self):
        return np.asarray(self.result).astype(np.float32).tobytes()
