"""Writes what transformers makes of published chat templates, for check_chats.py.

By hand, where transformers is installed: published_chats.py FILE SEED COUNT PLACE...
A PLACE is a folder of *.jinja, or llama.cpp's tests/test-chat-template.cpp. COUNT
conversations are drawn by SEED, beside those of make_chats.py."""
import ast
import datetime
import glob
import itertools
import json
import os
import random
import re
import sys

import tokenizers
from make_chats import CONVERSATIONS, DAY
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

TEXTS = ["Hello", "", " ", "\n\n", " Hi,\nyou \n", "Wie geht's?\t", "\u00a0ü 日本語 😀\u3000",
         "\x1cone\x85", "\u200bno space\ufeff", "it's \"quoted\" \\n {{ x }} {% y %}",
         "<think>\nhm\n</think>\n\nYes.", "</think>", "a</think>\n\n b </think>c", "<think>",
         "<|im_end|>", "[INST] x [/INST]", "<<SYS>>\nx\n<</SYS>>", "\r\na\r\n", "/no_think",
         "<response>r</response>", "<tool_call>\n{}\n</tool_call>", "<tool_response>a</tool_response>"]


class Clock(datetime.datetime):
    """Templates ask for the date of today."""
    @classmethod
    def now(cls, tz=None):
        return cls(DAY.year, DAY.month, DAY.day)


def texts_of(source):
    """Names and templates of a C++ file whose strings Python reads too."""
    rows = re.findall(r'\.name= \*/ (u8)?("(?:[^"\\]|\\.)*"),\s*/\* \.template_str= \*/ '
                      r'(?:u8)?(?:U8C\()?("(?:[^"\\]|\\.)*")', source)
    for _, name, template in rows:
        yield ast.literal_eval(name), ast.literal_eval(template)


def templates(place):
    if os.path.isfile(place):
        with open(place, encoding="utf-8") as file:
            yield from texts_of(file.read())
        return
    for path in sorted(glob.glob(os.path.join(place, "*.jinja"))):
        if not path.endswith("_training.jinja"):  # those are trl's own
            with open(path, encoding="utf-8") as file:
                yield os.path.basename(path)[:-len(".jinja")], file.read()


def conversations(seed, count):
    """Most are turns of user and assistant, some behind one of the system."""
    draw = random.Random(seed)
    yield from CONVERSATIONS
    yield [["system", "Be brief."]]
    for _ in range(count):
        turns = [["system", draw.choice(TEXTS)]] if draw.random() < .4 else []
        roles = ["user", "assistant"] * 3 if draw.random() < .9 else \
            draw.choices(["user", "assistant", "system"], k=6)
        yield turns + [[role, draw.choice(TEXTS)] for role in roles[:draw.randint(1, 6)]]


def render(tokenizer, turns, answer):
    """The text, or nothing where the template refuses."""
    messages = [{"role": role, "content": content} for role, content in turns]
    try:
        return tokenizer.apply_chat_template(messages, tokenize=False,
                                             add_generation_prompt=bool(answer))
    except Exception:  # a template may fail in any way
        return None


def main():
    path, seed, count, *places = sys.argv[1:]
    chat_template_utils.datetime = Clock
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(tokenizers.models.BPE()),
        bos_token="<s>", eos_token="</s>")
    with open(path, "w", encoding="utf-8") as file:
        for name, template in itertools.chain(*map(templates, places)):
            tokenizer.chat_template = template
            cases = [{"turns": turns, "answer": answer,
                      "text": render(tokenizer, turns, answer)}
                     for turns in conversations(int(seed), int(count)) for answer in (0, 1)]
            file.write(json.dumps({"name": name, "template": template, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
