"""command-files.py MILLE FOLDER: each command and option of the help is in the
man pages and completions of FOLDER."""
import pathlib
import re
import subprocess
import sys


def help_of(*words):
    return subprocess.run([sys.argv[1], *words, "--help"], check=True,
                          capture_output=True, text=True).stdout


folder = pathlib.Path(sys.argv[2])
commands = re.findall(r"^  (\w+) {2,}", help_of().split("Options:")[0], re.M)
count = 0
for command in commands:
    text = help_of(command)
    options = re.findall(r"^  (?:-\w, )?--([\w-]+)", text, re.M)
    assert options, command
    page = (folder / f"man1/mille-{command}.1").read_text()
    lines = {form: [line for line in (folder / path).read_text().splitlines()
                    if re.search(place % command, line)]
             for form, path, place in (
                 ("bash", "bash/mille", r"^ +%s\) words="),
                 ("zsh", "zsh/_mille", r"^ +%s\) _arguments "),
                 ("fish", "fish/mille.fish", r"seen_subcommand_from %s'"))}
    count += 1
    for option in options:
        said = r"\-\-" + option.replace("-", r"\-")
        assert re.search(re.escape(said) + r"\b", page), (command, option)
        for form, mark in (("bash", rf"[ ']--{option}[ =']"),
                           ("zsh", rf"'--{option}=?\["),
                           ("fish", rf" -l {option} ")):
            assert any(re.search(mark, line) for line in lines[form]), \
                (form, command, option)
        count += 1
print(f"{count} commands and options in 4 forms")
