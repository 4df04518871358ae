"""Prompts that real models continue, and what `mille` says of them."""
import json
import subprocess

PROMPTS = """The capital of France is
Once upon a time, there was
def fibonacci(n):
The three primary colours are
Water boils at
In 1969, the first
My favourite recipe begins with
The theory of evolution
1, 2, 3, 4,
Dear Sir or Madam,
The best way to learn a language is
Photosynthesis is the process by which
To be, or not to be,
The largest planet in the solar system
import numpy as np
If all cats are animals, then
The weather today
A triangle has three sides and
Question: what is the opposite of hot? Answer:
She opened the door and""".split("\n")


def lines(*command):
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return ran.stdout.strip().split("\n")


def greedy(mille, package, prompt, most):
    """The ids of the likeliest text of at most so many tokens."""
    said = lines(mille, "generate", package, "--prompt=" + prompt, "--json",
                 "--temperature=0", f"--max-tokens={most}")
    return [json.loads(line)["id"] for line in said]


def encoded(mille, package, prompt):
    return list(map(int, lines(mille, "tokens", package,
                               "--encode=" + prompt)[0].split(",")))
