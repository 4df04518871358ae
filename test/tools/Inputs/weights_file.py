"""Changes of a package's weights that nobody notices."""


def change(stem, edit):
    """Calls edit with the bytes of STEM.weights, a bytearray that it changes, and
    changes the hash there and in STEM.so."""
    with open(stem + ".weights", "r+b") as file:
        data = bytearray(file.read())
        edit(data)
        before = data[24:32]
        hash = 14695981039346656037
        for at in range(120, len(data), 8):
            word = int.from_bytes(data[at:at + 8].ljust(8, b"\0"), "little")
            hash = (hash ^ word) * 1099511628211 % 2**64
        data[24:32] = hash.to_bytes(8, "little")
        file.seek(0)
        file.write(data)
    with open(stem + ".so", "r+b") as file:
        code = file.read()
        assert code.count(before) == 1
        file.seek(0)
        file.write(code.replace(before, data[24:32]))
