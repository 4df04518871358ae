# Every op of both dialects has a verifier, or says why it needs none in a line
# of its description: `Verifier: none, <reason>.`
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from source import files, read  # noqa: E402

root = sys.argv[1]
ops = failures = 0
has = re.compile(r"\b(?:hasVerifier|hasRegionVerifier) = 1|SymbolUserOpInterface")
excuse = re.compile(r"^\s*Verifier: none, (\S.*?)\.$", re.M | re.S)

for dialect in ["transformer", "kernel"]:
    for td in files(os.path.join(root, "dialects", dialect), (".td",)):
        for match in re.finditer(
                r"^def \w+Op : (?:\w*Op)<(?:\w+, )?\"(\w+)\"(.*?)(?=^def |^class |\Z)",
                read(td), re.M | re.S):
            mnemonic, body = match.groups()
            ops += 1
            verified = bool(has.search(body))
            excused = bool(excuse.search(body))
            if verified == excused:
                failures += 1
                print(f"{dialect}.{mnemonic}: " + (
                    "has a verifier but says that it needs none" if verified else
                    "has no verifier and does not say why "
                    "('Verifier: none, <reason>.')"))

print(f"{ops} ops, {failures} failures")
sys.exit(1 if failures or not ops else 0)
