"""page.py FILE: what a page holds, and that it loads nothing."""
import json
import re
import sys
from html.parser import HTMLParser


class Page(HTMLParser):
    void = {"meta"}

    def __init__(self):
        super().__init__()
        self.open, self.scripts, self.data, self.style = [], 0, None, ""
        self.inData = False

    def handle_starttag(self, tag, attributes):
        assert tag not in ("link", "img", "iframe", "object", "base"), tag
        for name, value in attributes:
            assert name not in ("src", "href", "xlink:href"), name
        self.scripts += tag == "script"
        self.inData = ("id", "data") in attributes
        if tag not in self.void:
            self.open.append(tag)

    def handle_data(self, text):
        if self.inData:
            self.data = json.loads(text)
        elif self.open and self.open[-1] == "style":
            self.style += text

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
        self.inData = False


text = open(sys.argv[1]).read()
page = Page()
page.feed(text)
assert not page.open, page.open
assert not re.search(r"url\(|@import", page.style)
assert "Permission is hereby granted" in text and "Chart.js v3" in text
assert not re.search(r"fetch\(|XMLHttpRequest|WebSocket|import\(", text)
print("%d scripts, data of %s, nothing from elsewhere" % (
    page.scripts, page.data.get("model") or page.data["package"]))
