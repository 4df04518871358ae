"""Changes a value of a JSON file: edit.py IN OUT model.dropout=0.1 ...
Lists take a number or - (append); a value of nothing removes the key."""
import json
import sys

with open(sys.argv[1]) as file:
    root = json.load(file)
for change in sys.argv[3:]:
    path, text = change.split("=", 1)
    *parents, last = path.split(".")
    value = root
    for part in parents:
        value = value[int(part) if isinstance(value, list) else part]
    if not text:
        del value[int(last) if isinstance(value, list) else last]
    elif last == "-":
        value.append(json.loads(text))
    else:
        value[int(last) if isinstance(value, list) else last] = json.loads(text)
with open(sys.argv[2], "w") as file:
    json.dump(root, file, indent=1)
