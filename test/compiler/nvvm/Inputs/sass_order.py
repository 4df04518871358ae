"""Reads the machine code of cubins, one behind the other in a file: what ptxas did to the
order of waits and to registers, of which it says nothing.

  sass_order.py FILE          prints for each cubin
    exponentials between the wait for scores and the wait for values, the highest register;
    exponentials while no product of the group is in flight;
    waits that leave products in flight, and those of them behind the next step's products;
    fences of the whole device.
  sass_order.py limits FILE   prints one line: how many cubins keep their limits, and in how
    many each wait that leaves products in flight is behind the next step's.

Fails where a thread uses registers beyond those that its role has (the operand of
USETMAXREG), or where a fence of the device stands in a loop."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

nvdisasm = os.environ.get("MILLE_NVDISASM") or shutil.which(
    "nvdisasm", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
MAGIC = b"\x7fELF\x02\x01\x01"


def texts_of(path):
    """The code of each cubin as text."""
    with open(path, "rb") as file:
        cubins = [MAGIC + rest for rest in file.read().split(MAGIC)[1:]]
    for cubin in cubins:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as one:
            one.write(cubin)
            one.flush()
            yield subprocess.run([nvdisasm, "-c", one.name], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout


class Code:
    """Instructions, and those that may follow each."""

    def __init__(self, text):
        self.lines, self.labels = [], {}
        for line in text.splitlines():
            if label := re.match(r"(\.L\w+):", line):
                self.labels[label[1]] = len(self.lines)
            elif found := re.match(r"\s*/\*[0-9a-f]{4,5}\*/\s+(.*?)\s*;", line):
                self.lines.append(found[1])
        self.next = [self.after(i) for i in range(len(self.lines))]

    def after(self, i):
        line = self.lines[i]
        targets = [self.labels[name] for name in re.findall(r"`\((\.L\w+)\)", line)
                   if name in self.labels]
        always = re.match(r"(BRA|EXIT|RET|BREAK)\b", line)
        if sync := re.match(r"BSYNC\S* (B\d+)", line): # to where its BSSY says
            before = [j for j in range(i)
                      if re.match(r"BSSY\S* " + sync[1] + r"\b", self.lines[j])]
            return self.after(before[-1])[:1] if before else []
        if i + 1 < len(self.lines) and (not always or line.startswith("BRA.DIV")):
            targets.append(i + 1)
        return [t for t in targets if t < len(self.lines)]

    def reached(self, starts, stop=lambda line: False):
        seen, todo = set(), list(starts)
        while todo:
            i = todo.pop()
            if i not in seen and not stop(self.lines[i]):
                seen.add(i)
                todo += self.next[i]
        return seen

    def highest(self, which):
        return max((register(self.lines[i]) for i in which), default=0)


def register(line):
    """The highest that an instruction names or, by its width, implies."""
    named = [int(n) for n in re.findall(r"\bR(\d+)\b", line)]
    if not named:
        return 0
    if tile := re.match(r"(?:@!?U?P\d+ )?[HIQ]GMMA\.64x(\d+)x", line):
        return max(named + [named[0] + int(tile[1]) // 2 - 1])
    if wide := re.search(r"\b(?:LD[SGLC]?|ST[SGL]?)\b\S*\.(64|128)\b", line):
        last = named[-1] if re.search(r"\bST", line) else named[0]
        return max(named + [last + int(wide[1]) // 32 - 1])
    return max(named)


def limits(code):
    """Each role's registers beside its limit, as text."""
    found = []
    for i, line in enumerate(code.lines):
        if of := re.search(r"USETMAXREG\S* .*?(0x[0-9a-f]+)$", line):
            limit = int(of[1], 16)
            used = code.highest(code.reached(code.next[i], lambda x: "USETMAXREG" in x))
            if used >= limit:
                sys.exit(f"a thread that has {limit} registers uses R{used}")
            found.append(f"R{used} of {limit}")
    return ", ".join(found)


def fences(code):
    at = [i for i, line in enumerate(code.lines) if re.search(r"MEMBAR\S*\.(GPU|SYS)", line)]
    for i in at:
        if i in code.reached(code.next[i]):
            sys.exit("a fence of the device stands in a loop")
    return len(at)


def order(code):
    """Exponentials between the waits, those with no product in flight, waits that leave
    products in flight, and those of them that the products of another step stand before."""
    exponentials, idle, leaving, behind = 0, 0, 0, 0
    inside, none, issued = False, False, False
    for line in code.lines:
        issued |= bool(re.search(r"GMMA\..*gsb0", line))
        none &= "GMMA." not in line
        if "WARPGROUP.DEPBAR.LE" in line:
            inside = line.endswith("0x1")
            leaving += inside
            behind += inside and issued
            issued, none = False, not inside
        exponentials += inside and "MUFU.EX2" in line
        idle += none and "MUFU.EX2" in line
    return exponentials, idle, leaving, behind


count, ahead = 0, 0
for text in texts_of(sys.argv[-1]):
    code = Code(text)
    kept, wide = limits(code), fences(code)
    exponentials, idle, leaving, behind = order(code)
    count += 1
    ahead += leaving == behind > 0
    if sys.argv[1] == "limits":
        continue
    print(f"{exponentials} exponentials between the waits, "
          f"R{code.highest(range(len(code.lines)))} is the highest register")
    print(f"{idle} exponentials with no products in flight")
    print(f"{behind} of {leaving} waits that leave products are behind the next step's")
    print(f"registers: {kept or 'of all threads'}; {wide} fences of the device, none in a loop")
if sys.argv[1] == "limits":
    print(f"{count} cubins keep their limits, {ahead} issue the next products before a wait")
