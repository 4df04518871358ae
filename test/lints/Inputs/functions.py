# Functions of more than 80 lines, from the line of the name to the last brace.
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import files, read  # noqa: E402

root = sys.argv[1]
longest = 80


def blank(match):
    """What is no code, without its braces and as many lines."""
    return re.sub(r"[^\n]", " ", match.group(0))


def code_of(text):
    text = re.sub(r'R"(\w*)\((.*?)\)\1"', blank, text, flags=re.S)
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                  blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", blank, text, flags=re.M)


# What stands before the brace of a block that is no function.
other = re.compile(
    r"^\s*(?:if|for|while|switch|do|else|try|namespace|extern|case|default|"
    r"return)\b|\b(?:struct|class|enum|union)\b[^()]*$|=\s*$|[,(]\s*$|\]\s*$")


def functions(text):
    """Of each function the lines of its name and of its last brace."""
    text = code_of(text)
    opened, start = [], 0
    for i, c in enumerate(text):
        if c == "{":
            head = text[start:i].strip()
            is_function = (")" in head and not other.search(head)
                           and not any(f for f, _ in opened))
            first = text.count("\n", 0, start + len(text[start:i])
                               - len(text[start:i].lstrip())) + 1
            opened.append((is_function, first))
            start = i + 1
        elif c == "}":
            if opened:
                is_function, first = opened.pop()
                if is_function:
                    yield first, text.count("\n", 0, i) + 1
            start = i + 1
        elif c == ";":
            start = i + 1


count = failures = 0
for path in files(root, (".cpp", ".h", ".c")):
    if os.path.relpath(path, root).startswith("test" + os.sep):
        continue
    for first, last in functions(read(path)):
        count += 1
        if last - first + 1 > longest:
            failures += 1
            print(f"{os.path.relpath(path, root)}:{first}: a function of "
                  f"{last - first + 1} lines but a function has at most "
                  f"{longest}")

print(f"{count} functions, {failures} failures")
sys.exit(1 if failures else 0)
