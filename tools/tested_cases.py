"""The models of test/conformance and tables of Markdown, for the pages of docs that
are written from them."""
import os

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                     "test", "conformance")


def cases():
    """Each case's name, and the model to give to `mille`."""
    for root, folders, files in sorted(os.walk(TESTS)):
        folders.sort()
        if "case.json" in files:
            spec = os.path.join(root, "spec.json")
            yield (os.path.relpath(root, TESTS),
                   spec if os.path.exists(spec) else root)


def print_table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
