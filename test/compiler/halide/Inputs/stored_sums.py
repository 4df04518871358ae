"""How many sums the loops of a folder's objects store after every product: a register
that a loop writes by multiply-adds only, and stores; and a place of the stack that it
both stores vectors to and loads them from. Registers should hold them to the end.

  stored_sums.py FOLDER
"""
import os
import re
import subprocess
import sys

LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*([^#<]*)")
ADDS = re.compile(r"vfmadd231p[sd]|vdpbf16ps|vpdp\w+")


def instructions(path):
    text = subprocess.run(["llvm-objdump", "-d", "--no-show-raw-insn", path],
                          check=True, capture_output=True, text=True).stdout
    found = filter(None, map(LINE.match, text.splitlines()))
    return [(int(one[1], 16), one[2], one[3].strip()) for one in found]


def innermost_loops(code):
    places = {address: i for i, (address, _, _) in enumerate(code)}
    loops = []
    for i, (address, name, operands) in enumerate(code):
        to = re.fullmatch(r"0x([0-9a-f]+)", operands) if name[0] == "j" else None
        if to and int(to[1], 16) <= address and int(to[1], 16) in places:
            loops.append((places[int(to[1], 16)], i))
    return [(first, last) for first, last in loops
            if not any((first, last) != (a, b) and first <= a and b <= last
                       for a, b in loops)]


def stored_sums(body):
    sums, others, stored = set(), set(), set()
    left, found = set(), set()  # places of the stack
    for _, name, operands in body:
        operands = re.sub(r"\s*\{.*", "", operands)  # no mask
        words = re.findall(r"%[xyz]mm\d+", operands)
        places = re.findall(r"\S*\(%rsp\)", operands)
        to_memory = operands.endswith(")")
        if to_memory and words and name.startswith("vmov"):
            stored.add(words[0])
            left.update(places)
        elif words and not to_memory:
            (sums if ADDS.fullmatch(name) else others).add(words[-1])
            found.update(places)
    return len((sums - others) & stored) + len(left & found)


folder = sys.argv[1]
for name in sorted(os.listdir(folder)):
    code = instructions(os.path.join(folder, name))
    loops = innermost_loops(code)
    adding = [code[a:b + 1] for a, b in loops
              if any(ADDS.fullmatch(one[1]) for one in code[a:b + 1])]
    print("%s: %s loops, %d stored sums" % (
        name, "some" if adding else "no", sum(map(stored_sums, adding))))
