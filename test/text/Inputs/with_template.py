"""A NAME.tokens with the chat template of that name:
with_template.py WRITE-TOKENS TOKENIZER.json CHATS NAME FOLDER"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_chats import tokens_of  # noqa: E402

writer, tokenizer, chats, name, folder = sys.argv[1:]
with open(chats) as file:
    row = next(row for row in map(json.loads, file) if row["name"] == name)
made = tokens_of(writer, tokenizer, row["template"], os.path.join(folder, name))
os.rename(made, os.path.join(folder, name + ".tokens"))
