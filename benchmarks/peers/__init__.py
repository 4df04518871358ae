"""One file per peer. Each defines class Peer:

  Peer(case, encoder)  builds and compiles for the case's sizes; encoder() reads
                       the weights (encoder.Encoder)
  run()                one run, from token ids to the last hidden state
  output()             the last run's result, as bytes of f32
  compiled_before      seconds that compiling took in an earlier run, if it is kept
  device, peak_gflops  where it runs on something else than the CPU
  differs_in           what it computes in another way than the model says, in words
  VERSION              of the peer

and, where it reads a file of its own format, prepare(case, encoder), which makes it:
that is not part of the time to its first result.

A case is a dictionary: model (a path), dtype, batch, tokens, threads, ids (a
file of i32), mask (the same, or null), variant, work (a folder for what is made
of the model). What a peer cannot do raises Refused with the reason.
"""


class Refused(Exception):
    pass


def read_integers(case, name, dtype):
    """The ids or the mask as an array [batch, tokens]."""
    import numpy as np
    numbers = np.fromfile(case[name], np.int32).astype(dtype)
    return numbers.reshape(case["batch"], case["tokens"])
