"""Copies a case with other keys, and tensors of its own.

  change-case.py CASE FOLDER [KEY=JSON | KEY= | NAME<OTHER]...

`KEY=` leaves a key out; `NAME<OTHER` adds a tensor NAME with OTHER's numbers in
reverse order, `NAME<<OTHER` with the same numbers.
"""
import json
import os
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length)), file.read()


def main(case, folder, *changes):
    os.makedirs(folder, exist_ok=True)
    header, data = read(os.path.join(case, "model.safetensors"))
    with open(os.path.join(case, "config.json")) as file:
        config = json.load(file)
    for change in changes:
        name, mark, other = change.partition("<")
        if mark:
            begin, end = header[other.lstrip("<")]["data_offsets"]
            numbers = data[begin:end]
            if not other.startswith("<"):
                numbers = b"".join(numbers[i:i + 4] for i in
                                   range(len(numbers) - 4, -1, -4))
            entry = dict(header[other.lstrip("<")])
            entry["data_offsets"] = [len(data), len(data) + len(numbers)]
            header[name] = entry
            data += numbers
            continue
        key, _, value = change.partition("=")
        config.pop(key, None)
        if value:
            config[key] = json.loads(value)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file, indent=1)
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


main(*sys.argv[1:])
