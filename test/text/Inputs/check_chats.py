"""Conversations through text-lines and as jinja2 wrote them down:
check_chats.py TEXT-LINES WRITE-TOKENS TOKENIZER.json CHATS FOLDER

What is rendered must be equal. What the template refuses must be refused; and what
the table refuses although the template does not is printed by name."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check import ask  # noqa: E402

DATE = "2026-11-24"


def tokens_of(writer, tokenizer, template, folder):
    os.makedirs(folder, exist_ok=True)
    shutil.copy(tokenizer, os.path.join(folder, "tokenizer.json"))
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as file:
        json.dump({"bos_token": "<s>", "eos_token": {"content": "</s>"}}, file)
    with open(os.path.join(folder, "chat_template.jinja"), "w") as file:
        file.write(template)
    tokens = os.path.join(folder, "NAME.tokens")
    subprocess.run([writer, os.path.join(folder, "tokenizer.json"), tokens], check=True)
    return tokens


def question(case):
    turns = " ".join(f"{role}={text.encode().hex()}" for role, text in case["turns"])
    return f"chat {case['answer']} {DATE} {turns}"


def check(program, tokens, row):
    answers = ask(program, tokens, ["format"] + [question(case) for case in row["cases"]])
    equal = failures = refused = 0
    reason = None
    for case, answer in zip(row["cases"], answers[1:]):
        wanted = case["text"]
        if answer.startswith("!"):
            refused += wanted is not None
            equal += wanted is None
            reason = answer
        elif wanted is None or bytes.fromhex(answer).decode() != wanted:
            failures += 1
            got = bytes.fromhex(answer).decode()
            if failures <= 2:
                print(f"{row['name']}: {case['turns']}, answer {case['answer']}\n  is  {got!r}\n"
                      f"  not {wanted!r}")
        else:
            equal += 1
    print(f"{row['name']}: {answers[0]}: {equal} equal, {failures} differ"
          + (f", {refused} more refused: {reason}" if refused else ""))
    return failures


def main():
    program, writer, tokenizer, chats, folder = sys.argv[1:]
    failures = 0
    with open(chats) as file:
        for number, line in enumerate(file):
            row = json.loads(line)
            tokens = tokens_of(writer, tokenizer, row["template"],
                               os.path.join(folder, str(number)))
            failures += check(program, tokens, row)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
