"""Counts the exponentials that stand between the wait for scores and the wait for values in
the machine code of a cubin, and checks that the threads that copy keep to their registers."""
import os
import re
import shutil
import subprocess
import sys

nvdisasm = os.environ.get("MILLE_NVDISASM") or shutil.which(
    "nvdisasm", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
text = subprocess.run([nvdisasm, "-hex", sys.argv[1]], check=True, text=True,
                      stdout=subprocess.PIPE).stdout
code = [line for line in text.splitlines() if re.search(r"/\*[0-9a-f]{4,5}\*/", line)]
exponentials, inside = 0, False
for line in code:
    if "WARPGROUP.DEPBAR.LE" in line:
        inside = line.rstrip("; ").split(";")[0].rstrip().endswith("0x1")
    exponentials += inside and "MUFU.EX2" in line
registers = lambda lines: max(int(n) for line in lines
                              for n in re.findall(r"\bR(\d+)\b", line))
start = next(i for i, line in enumerate(code) if "USETMAXREG.DEALLOC" in line)
end = next(i for i, line in enumerate(code) if "USETMAXREG.TRY_ALLOC" in line)
if registers(code[start:end]) >= 40:
    sys.exit(f"a copying thread uses R{registers(code[start:end])} of 40 registers")
print(f"{exponentials} exponentials between the waits, "
      f"R{registers(code)} is the highest register")
