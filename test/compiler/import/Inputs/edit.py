"""A case's config with other options, in a folder of its own.

  edit.py CASE FOLDER KEY=JSON ...     KEY= takes the key away
"""
import json
import os
import sys

with open(os.path.join(sys.argv[1], "config.json")) as file:
    config = json.load(file)
for change in sys.argv[3:]:
    key, value = change.split("=", 1)
    config.pop(key, None)
    if value:
        config[key] = json.loads(value)
os.makedirs(sys.argv[2])
with open(os.path.join(sys.argv[2], "config.json"), "w") as file:
    json.dump(config, file, indent=1)
