#!/usr/bin/env python3
"""commands-page.py MILLE: prints docs/commands.md from the tool's own help.

A test compares; after a change of an option:
  tools/commands-page.py build/bin/mille > docs/commands.md
"""
import re
import subprocess
import sys


def help_of(*words):
    return subprocess.run([sys.argv[1], *words, "--help"], check=True,
                          capture_output=True, text=True).stdout


top = help_of()
commands = re.search(r"Commands:\n(.*?)\n\n", top, re.S).group(1)
print("# Commands\n\nWritten by `tools/commands-page.py` from `mille --help`.\n")
print("```\n" + top + "```")
for command in re.findall(r"^  (\w+)", commands, re.M):
    print("\n## mille %s\n\n```\n%s```" % (command, help_of(command)))
