#!/usr/bin/env python3
# Prints `N passed, N failed` from lit's JSON reports; exit 1 when a test failed
# or none ran. Reads nothing else, runs nothing.
import collections
import json
import os
import sys

codes = collections.Counter()
for report in sys.argv[1:]:
    if not os.path.exists(report):
        print(f"{report}: the tests did not run to their end")
        continue
    with open(report) as file:
        for test in json.load(file)["tests"]:
            codes[test["code"]] += 1
            if test["code"] not in ("PASS", "XFAIL", "FLAKYPASS", "UNSUPPORTED"):
                print(f"{test['code']}: {test['name']}")
passed = codes["PASS"] + codes["XFAIL"] + codes["FLAKYPASS"]
codes.pop("EXCLUDED", None)  # by --filter: another report has them
# The REQUIRES of each names what is lacking; they are told, and never count as passed.
skipped = codes["UNSUPPORTED"] + codes["SKIPPED"]
failed = sum(codes.values()) - passed - skipped
if skipped:
    print(f"{skipped} not run: this machine or build lacks what they need")
print(f"{passed} passed, {failed} failed")
sys.exit(0 if passed and not failed else 1)
