"""page.py FILE: what the page draws, and that it needs nothing else."""
import re
import sys
from html.parser import HTMLParser


class Page(HTMLParser):
    void = {"meta", "link", "br", "img", "line", "circle", "path"}

    def __init__(self):
        super().__init__()
        self.open, self.count = [], {}

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        assert tag not in ("script", "link", "img", "iframe"), tag
        for name, value in attributes:
            assert name not in ("src", "href", "xlink:href"), name
            assert "nan" not in (value or "") and "inf" not in (value or ""), value
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.void:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


text = open(sys.argv[1]).read()
assert not re.search(r"https?://|url\(|@import", text)
page = Page()
page.feed(text)
assert not page.open, page.open
print("%d drawings, %d dots, %d lines, nothing from elsewhere" % (
    page.count["svg"], page.count["circle"], page.count["path"]))
