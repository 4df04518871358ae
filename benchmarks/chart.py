"""Bars with quartiles as SVG, from a table of results. Plain text; no package.

Both the light and the dark page show it: colours come from the page's own scheme.
"""
import rounds
from tables import peak_of

WIDTH, LEFT, RIGHT, BAR, GAP, TOP = 840, 130, 250, 18, 10, 34
STYLE = """<style>
text { font: 13px sans-serif; fill: #24292f }
.bar { fill: #8c959f } .ours { fill: #0969da } .spread { stroke: #24292f }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 }
 .bar { fill: #6e7681 } .ours { fill: #4493f8 } .spread { stroke: #e6edf3 } }
</style>"""


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def bars_of(table):
    """(name, median, lower quartile, upper quartile, words) of what was measured,
    and the unit."""
    if "cold" in table:
        found = []
        for entry in table["cold"]:
            if "refused" not in entry:
                times = sorted(entry["seconds"])
                middle = times[len(times) // 2]
                found.append((entry["name"], middle, times[len(times) // 4],
                              times[3 * len(times) // 4], "%.3f s" % middle))
        return found
    found = []
    for entry in table["rows"]:
        if "refused" in entry:
            continue
        times = rounds.summary(entry["rounds"])
        words = "%.2f ms" % times["median"]
        if "ratio" in entry and entry["name"] != "mille":
            words += ", x %.2f" % entry["ratio"]
        peak = peak_of(table, entry)
        if peak:
            words += ", %.0f %% of peak" % (
                1e5 * table["gflop"] / times["median"] / peak)
        found.append((entry["name"], times["median"], times["q1"], times["q3"],
                      words))
    return found


def group(table, top):
    """The lines of one table's bars, from `top` down, and where they end."""
    bars = bars_of(table)
    scale = (WIDTH - LEFT - RIGHT) / max([bar[3] for bar in bars] or [1])
    text = ['<text x="0" y="%d" font-weight="bold">%s</text>' % (
        top + 14, escaped(table["title"]))]
    y = top + TOP - 8
    for name, middle, low, high, words in bars:
        text += [
            '<text x="%d" y="%d" text-anchor="end">%s</text>' % (
                LEFT - 8, y + 14, escaped(name)),
            '<rect class="%s" x="%d" y="%d" width="%.1f" height="%d"/>' % (
                "ours" if name.startswith("mille") else "bar", LEFT, y,
                middle * scale, BAR),
            '<line class="spread" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>' % (
                LEFT + low * scale, LEFT + high * scale, y + BAR // 2,
                y + BAR // 2),
            '<text x="%.1f" y="%d">%s</text>' % (
                LEFT + max(middle, high) * scale + 6, y + 14, words)]
        y += BAR + GAP // 2
    return text, y + 2 * GAP


def drawing(tables):
    """The text of an SVG with a group of bars for each table that has any."""
    body, y = [], 0
    for table in tables:
        if ("rows" in table or "cold" in table) and bars_of(table):
            lines, y = group(table, y)
            body += lines
    if not body:
        return None
    return "\n".join(
        ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
         'viewBox="0 0 %d %d">' % (WIDTH, y, WIDTH, y), STYLE] + body
        + ["</svg>", ""])
