#!/usr/bin/env python3
"""Answers of transformers' generate (numpy, torch and transformers are needed) for models
of test/conformance, on random sources, rules and searches. An answer that small changes
of the weights change is left out: sums in another order may do so too.

  beams-answers.py RUNS SEED CASE... > answers.json

beams.py compares `mille generate` with them; beams.json is of 12 runs each: seed 3
of bart, 2 of t5_relu_tied, 1 of whisper.
"""
import json
import os
import random
import sys

import numpy
import torch
import transformers
from transformers.generation import GenerationMixin

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import extend  # puts the folder of tensors on the path
import tensors

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir,
                     "conformance")
transformers.logging.set_verbosity_error()


def some_rules(config, chance):
    """generation_config.json: enough ends that answers end before they must."""
    ids = chance.sample(range(3, config["vocab_size"]), 16)
    rules = {"decoder_start_token_id": config.get("decoder_start_token_id") or 0,
             "eos_token_id": ids[:chance.choice([1, 3, 6])], "pad_token_id": 0,
             "num_beams": chance.randint(2, 4)}
    if chance.random() < 0.5:
        rules["forced_bos_token_id"] = ids[7]
    if chance.random() < 0.5:
        rules["forced_eos_token_id"] = rules["eos_token_id"][0]
    if chance.random() < 0.5:
        rules["suppress_tokens"] = ids[8:11]
    if chance.random() < 0.5:
        rules["begin_suppress_tokens"] = ids[11:13]
    if chance.random() < 0.5:
        rules["bad_words_ids"] = [[ids[13]], [ids[14]]]
    if chance.random() < 0.5:
        rules["min_length"] = chance.randint(2, 8)
    if chance.random() < 0.3:
        rules["no_repeat_ngram_size"] = chance.randint(1, 3)
    return rules


def some_search(chance):
    return {"num_beams": chance.randint(1, 8),
            "length_penalty": chance.choice([-1.0, 0.0, 0.6, 1.0, 2.0]),
            "early_stopping": chance.choice([True, False, "never"]),
            "max_new_tokens": chance.randint(1, 12)}


def answer(model, rules, run, features):
    """The new ids, without an end."""
    given = dict(rules, **run["search"], do_sample=False)
    own = transformers.GenerationConfig(**given)
    if features is not None:
        source = {"input_features": features}
    else:
        ids = torch.tensor([run["ids"]])
        source = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    with torch.no_grad():
        ids = GenerationMixin.generate(model, **source, generation_config=own)[0].tolist()
    ids = ids[1:]
    ends = [at for at, one in enumerate(ids) if one in rules["eos_token_id"]]
    return ids[:ends[0]] if ends else ids


def nudged(model, generator):
    for parameter in model.parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.data = parameter.data * (1 + 1e-4 * noise)
    return model


def loaded(folder, config):
    kind = getattr(transformers, config["architectures"][0])
    return kind.from_pretrained(folder, dtype=torch.float32).eval()


def answers_of(case, count, seed):
    folder = os.path.join(CASES, case)
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    chance = random.Random(f"{case} {seed}")
    rules = some_rules(config, chance)
    features = None
    if config["model_type"] == "whisper":
        shape, numbers, _ = tensors.load(os.path.join(folder, "inputs.safetensors"))[
            "input_features"]
        features = torch.tensor(list(numbers)).reshape(shape)[:1]
    generator = torch.Generator().manual_seed(seed)
    models = [loaded(folder, config)] + [nudged(loaded(folder, config), generator)
                                         for _ in range(2)]
    runs = []
    while len(runs) < count:
        run = {"search": some_search(chance)}
        if features is None:
            length = chance.randint(1, 9)
            run["ids"] = [chance.randrange(config["vocab_size"]) for _ in range(length)]
        found = [answer(model, rules, run, features) for model in models]
        if all(one == found[0] for one in found):
            runs.append(dict(run, answer=found[0]))
    return {"case": case, "rules": rules, "runs": runs}


def main():
    torch.set_num_threads(1)
    numpy.random.seed(0)
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    print("[")
    for number, case in enumerate(sys.argv[3:]):
        made = answers_of(case, count, seed)
        runs = ",\n  ".join(json.dumps(run) for run in made.pop("runs"))
        print("," if number else "", json.dumps(made)[:-1] + ', "runs": [\n  ' + runs + "]}")
    print("]")


main()
