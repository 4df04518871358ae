#!/usr/bin/env python3
"""command-files.py MILLE FOLDER: writes man pages (FOLDER/man1) and completions
for bash, zsh and fish (FOLDER/bash, zsh, fish) from the tool's own help."""
import pathlib
import re
import subprocess
import sys


def sections(text):
    """(first paragraph, usage, [(title, lines)]) of a help text."""
    blocks, title, lines = [], None, []
    for line in text.splitlines():
        found = re.fullmatch(r"([A-Z][a-z ]+):(.*)", line)
        if found:
            blocks.append((title, lines))
            title, lines = found[1], [found[2].strip()] if found[2] else []
        else:
            lines.append(line)
    blocks.append((title, lines))
    about = " ".join(blocks[0][1]).strip()
    return about, [(title, lines) for title, lines in blocks[1:]]


def entries(lines):
    """[(word, what it is)] of an indented table."""
    found = []
    for line in lines:
        begin = re.match(r"  (\S.*?)(?:\s{2,}(\S.*))?$", line)
        if begin and not line.startswith("   "):
            found.append([begin[1], begin[2] or ""])
        elif line.strip() and found:
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return [tuple(one) for one in found]


class Help:
    """One help text: `mille COMMAND --help`, or that of the tool."""

    def __init__(self, tool, command=None):
        words = [command] if command else []
        self.command = command
        self.about, self.sections = sections(subprocess.run(
            [tool, *words, "--help"], check=True, capture_output=True,
            text=True).stdout)

    def table(self, title):
        for name, lines in self.sections:
            if name == title:
                return entries(lines)
        return []

    def options(self):
        """[(["-o", "--output"], whether it has a value, what it is)]."""
        return [(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", word), "=" in word,
                 what) for word, what in self.table("Options")]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def page(help, version):
    name = "mille" + (f"-{help.command}" if help.command else "")
    about = re.sub(r"^Mille compiles", "compiles", help.about).rstrip(".")
    out = [f'.TH {name.upper()} 1 "" "Mille {version}"', ".SH NAME",
           f"{roff(name)} \\- {roff(about)}"]
    for title, lines in help.sections:
        title = {"Usage": "SYNOPSIS"}.get(title, title.upper())
        out.append(f".SH {title}")
        if title == "SYNOPSIS":
            out += [".B " + roff(lines[0]), ""] if lines else []
            lines = lines[1:]
        if title in ("SYNOPSIS", "COMMANDS", "OPTIONS"):
            for word, what in entries(lines):
                out += [".TP", f".B {roff(word)}", roff(what)]
        else:
            out += [".nf", *(roff(line.removeprefix("  ")) for line in lines
                             if line.strip()), ".fi"]
    return "\n".join(out) + "\n"


def words_of(options):
    return [name + ("=" if value and name.startswith("--") else "")
            for names, value, _ in options for name in names]


def bash(top, commands):
    cases = "\n".join(f"    {one.command}) words='"
                      f"{' '.join(words_of(one.options()))}' ;;"
                      for one in commands)
    names = " ".join([one.command for one in commands]
                     + words_of(top.options()))
    return f"""# Written by tools/command-files.py from `mille --help`.
_mille() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{names}' -- "$word"))
    return
  fi
  [[ $word == -* ]] || return
  case ${{COMP_WORDS[1]}} in
{cases}
    *) return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ ${{#COMPREPLY[@]}} == 1 && $COMPREPLY == *= ]] && compopt -o nospace
}}
complete -o default -F _mille mille
"""


def quoted(text, *marks):
    text = text.replace("'", "'\\''")
    for mark in marks:
        text = text.replace(mark, "\\" + mark)
    return text


def zsh(top, commands):
    def described(one):
        return " ".join(
            "'%s[%s]%s'" % (name + ("=" if value and name[:2] == "--" else ""),
                            quoted(what, "[", "]", ":"),
                            ":value:_files" if value else "")
            for names, value, what in one.options() for name in names)
    cases = "\n".join(f"  {one.command}) _arguments {described(one)} "
                      "'*:file:_files' ;;" for one in commands)
    names = " ".join(f"'{one.command}:{quoted(one.about, ':')}'"
                     for one in commands)
    return f"""#compdef mille
# Written by tools/command-files.py from `mille --help`.
local -a commands
commands=({names})
if ((CURRENT == 2)); then
  _describe command commands
  return
fi
local command=$words[2]
shift words
((CURRENT--))
case $command in
{cases}
esac
"""


def fish(top, commands):
    lines = ["# Written by tools/command-files.py from `mille --help`."]
    for one in commands:
        lines.append(f"complete -c mille -n __fish_use_subcommand -a "
                     f"{one.command} -d '{fish_quoted(one.about)}'")
    for one in [top, *commands]:
        where = f"'__fish_seen_subcommand_from {one.command}'" \
            if one.command else "__fish_use_subcommand"
        for names, value, what in one.options():
            flags = " ".join(f"-l {name[2:]}" if name.startswith("--")
                             else f"-s {name[1:]}" for name in names)
            lines.append(f"complete -c mille -n {where} {flags}"
                         f"{' -r' if value else ''} -d '{fish_quoted(what)}'")
    return "\n".join(lines) + "\n"


def fish_quoted(text):
    return text.replace("\\", "\\\\").replace("'", "\\'")


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    said = subprocess.run([tool, "--version"], check=True,
                          capture_output=True, text=True).stdout
    version = re.search(r"\d+\.\d+\.\d+", said)[0]
    top = Help(tool)
    commands = [Help(tool, name) for name, _ in top.table("Commands")]
    files = {"bash/mille": bash(top, commands), "zsh/_mille": zsh(top, commands),
             "fish/mille.fish": fish(top, commands)}
    for one in [top, *commands]:
        name = "mille" + (f"-{one.command}" if one.command else "")
        files[f"man1/{name}.1"] = page(one, version)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


if __name__ == "__main__":
    main()
