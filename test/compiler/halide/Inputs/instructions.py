"""What the code of a folder's objects uses of AVX-512 beyond Skylake's, by extension,
and where its prefetches go. LLVM's assembler knows every instruction of every CPU, so
names tell.

  instructions.py FOLDER
"""
import os
import re
import subprocess
import sys

EXTENSIONS = {
    "vnni": r"vpdp(bu|w)s(s)?ds?",
    "tiles": r"tdp(bf16ps|busd)|tile(loadd|stored|zero|release)|ldtilecfg",
    "bf16": r"vdpbf16ps|vcvtne2?ps2bf16.?",
    "ifma": r"vpmadd52.uq",
    "vbmi": r"vperm(b|[it]2b)|vpmultishiftqb",
    "vbmi2": r"vp(compress|expand)[bw]|vpsh[lr]dv?[wdq]",
    "bitalg": r"vpopcnt[bwdq]|vpshufbitqmb",
    "gfni": r"v?gf2p8.*",
    "vaes": r"vaes.*|vpclmul.*",
    "sse4a": r"extrq|insertq|movnts[sd]",
    "picks": r"vperm(d|ps)",
    "into L1": r"prefetcht0",
    "into L2": r"prefetcht1",
    "past the caches": r"prefetchnta",
}


def names(path):
    text = subprocess.run(["llvm-objdump", "-d", "--no-show-raw-insn",
                           "--no-leading-addr", path],
                          check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in text.splitlines()
            if line[:1].isspace() and line.strip()]


folder = sys.argv[1]
for name in sorted(os.listdir(folder)):
    used = names(os.path.join(folder, name))
    found = [extension for extension, form in EXTENSIONS.items()
             if any(re.fullmatch(form, word) for word in used)]
    wide = "vmulps" in used or "vpdpbusd" in used or "vmovups" in used or "vaddps" in used
    assert used and wide, "%s has no code of vectors" % name
    print("%s: %s" % (name, ", ".join(found) or "none"))
