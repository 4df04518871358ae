#!/usr/bin/env python3
"""Whether two texts of imported models are the same program: equal line by line
but for the values of parameters, whose names and types must be the same set.

  same-program.py ONE.mlir OTHER.mlir
"""
import re
import sys


def program(path):
    rest, parameters = [], {}
    with open(path) as file:
        for line in file:
            found = re.match(r"\s*transformer\.parameter (@\S+) : (\S+)", line)
            if found:
                parameters[found.group(1)] = found.group(2)
            else:
                rest.append(line)
    return rest, parameters


(one, ours), (other, theirs) = map(program, sys.argv[1:])
differences = [f"parameter {name}: {ours.get(name)} and {theirs.get(name)}"
               for name in sorted(ours.keys() | theirs.keys())
               if ours.get(name) != theirs.get(name)]
differences += [f"{a}{b}" for a, b in zip(one, other) if a != b]
if len(one) != len(other):
    differences.append(f"{len(one)} and {len(other)} lines")
if not ours:
    differences.append("there are no parameters")
print("\n".join(differences[:8]) if differences else "the same program")
sys.exit(1 if differences else 0)
