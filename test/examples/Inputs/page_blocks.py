"""Blocks of code of a page."""
import re


def blocks(path, kind):
    """The texts of those that say `kind` behind their ```."""
    with open(path, encoding="utf-8") as file:
        return re.findall(rf"^```{kind}\n(.*?)^```$", file.read(), re.M | re.S)
