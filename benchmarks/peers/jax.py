"""JAX on XLA's CPU back end, f32; weights are arguments. A spec's layers are
scanned, a folder's unrolled."""
import os

from peers import Refused, read_integers

# XLA reads it at its start. Processes of one thread are also pinned to a core.
if len(os.sched_getaffinity(0)) == 1:
    os.environ["XLA_FLAGS"] = ("--xla_cpu_multi_thread_eigen=false "
                               "intra_op_parallelism_threads=1")
import jax  # noqa: E402
import numpy as np  # noqa: E402

import jax_function  # noqa: E402

VERSION = jax.__version__


class Peer:
    def __init__(self, case, encoder):
        if case["dtype"] == "int8":
            raise Refused("it has no quantisation of its own")
        if case["dtype"] == "bf16":
            raise Refused("its CPU back end has no kernels of it: 5 GFLOP/s where it "
                          "was tried, seconds a run")
        scanned = not os.path.isdir(case["model"])
        weights = jax.device_put(jax_function.weights(encoder(), scanned))
        inputs = [jax.device_put(read_integers(case, "ids", np.int32))]
        if case["mask"] is not None:
            inputs.append(jax.device_put(read_integers(case, "mask", np.int32)))
        function = jax.jit(jax_function.function(encoder(), scanned))
        self.call = lambda: function(*weights, *inputs).block_until_ready()

    def run(self):
        self.result = self.call()

    def output(self):
        return np.array(self.result).astype(np.float32).tobytes()
