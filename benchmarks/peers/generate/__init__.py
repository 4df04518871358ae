"""One file per peer that generates text. Each defines

  VERSION              of the peer
  prepare(case)        what it reads, made where it is not there; raises Refused
  Peer(case, made)     loads that
  run(ids, tokens)     from an empty cache: seconds from the ids to the first token after
                       them, and seconds of each of so many further ones (their mean)

A case is a dictionary: model (the GGUF that was given), file (the same model with all
matrices in this type, for who reads GGUF), dtype, threads, room (most tokens of a
sequence), work (a folder for what is made of the model). decode_worker.py runs them,
decode.py starts it.
"""
import os

from peers import Refused


def kind_of(case, kinds):
    """What a peer calls the case's type, of a model that it quantises itself."""
    if case["dtype"] not in kinds:
        raise Refused("has no %s of its own" % case["dtype"])
    return kinds[case["dtype"]]


def made_once(case, name, make):
    """The folder of this name among what is made of the model: make(path) fills it."""
    folder = os.path.join(case["work"], name)
    if not os.path.exists(folder):
        make(folder + ".part")
        os.rename(folder + ".part", folder)
    return folder


def hugging_face(case):
    """The widened model as a folder, for who reads no GGUF."""
    def make(path):
        import torch
        import transformers
        folder, name = os.path.split(os.path.abspath(case["model"]))
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            folder, gguf_file=name, dtype=torch.float32)
        # As long as its configuration names the file's types it is not written.
        if hasattr(loaded.config, "quantization_config"):
            del loaded.config.quantization_config
        plain = transformers.AutoModelForCausalLM.from_config(loaded.config)
        plain.load_state_dict(loaded.state_dict())
        plain.save_pretrained(path)
        transformers.AutoTokenizer.from_pretrained(
            folder, gguf_file=name).save_pretrained(path)

    return made_once(case, "folder", make)
