#!/usr/bin/env python3
"""`mille generate` with beams, beside answers of transformers' generate that
beams-answers.py has made.

  beams.py MILLE ANSWERS WORK [PART...]
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import extend  # puts the folder of tensors on the path
import tensors

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir,
                     "conformance")


def run(*command):
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, (command, ran.stderr)
    return ran.stdout.strip()


def compiled(mille, made, work):
    """The case's package, with the rules of the answers, and its source's numbers."""
    source, folder = os.path.join(CASES, made["case"]), os.path.join(work, made["case"])
    shutil.copytree(source, folder)
    with open(os.path.join(folder, "generation_config.json"), "w") as file:
        json.dump(made["rules"], file)
    run(mille, "compile", folder, "-o", folder + "/package", "--name=model",
        "--entries=next", "--target=x86-64-v3")
    given = tensors.load(os.path.join(folder, "inputs.safetensors"))
    if "input_features" in given:
        shape, numbers, block = given["input_features"]
        one = len(bytes(block)) // shape[0]
        tensors.save(folder + "/source", {
            "input_features": ("F32", [1, *shape[1:]], bytes(block)[:one])})
    return folder


def said(mille, folder, one):
    search = one["search"]
    words = {True: "true", False: "false", "never": "never"}
    source = "--ids=" + ",".join(map(str, one["ids"])) if "ids" in one else \
        f"--source={folder}/source"
    lines = run(mille, "generate", folder + "/package", source, "--json",
                f"--beams={search['num_beams']}", "--threads=1",
                f"--length-penalty={search['length_penalty']}",
                f"--early-stopping={words[search['early_stopping']]}",
                f"--max-tokens={search['max_new_tokens']}")
    return [json.loads(line)["id"] for line in lines.splitlines()]


def main():
    mille, answers, work, *parts = sys.argv[1:]
    with open(answers) as file:
        every = json.load(file)
    count, wrong, ended = 0, [], 0
    for made in every:
        if parts and made["case"] not in parts:
            continue
        folder = compiled(mille, made, work)
        for one in made["runs"]:
            got = said(mille, folder, one)
            count += 1
            ended += len(got) + 1 < one["search"]["max_new_tokens"]
            if got != one["answer"]:
                wrong.append((made["case"], one, got))
    for case, one, got in wrong:
        print(f"{case}: {one}: {got}")
    assert not wrong, f"{len(wrong)} of {count} answers differ"
    assert ended * 20 > count, "too few answers end by themselves"
    print(f"{count} answers are those of transformers")


main()
