"""pages.py BROWSER KIND PAGE JSON SHOT [dark]: opens a page in a browser without a
screen, which says that its user likes light colours, or dark ones.

Nothing may be said on the console, and what the tables and charts of the page say
must be what JSON says, which `mille` has written for the same input. SHOT is the
picture of the page, kept for people."""
import json
import math
import os
import re
import subprocess
import struct
import sys
import zlib
from html.parser import HTMLParser

browser, kind, page, other, shot = sys.argv[1:6]
dark = sys.argv[6:] == ["dark"]


class Dom(HTMLParser):
    """The tables by id as lists of texts, the JSON of scripts by id, errors."""

    def __init__(self):
        super().__init__()
        self.tables, self.scripts, self.errors = {}, {}, []
        self.rows = self.cell = self.script = self.paragraph = None
        self.texts = {}

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "data-error" in attributes:
            self.errors.append(attributes["data-error"])
        if tag == "table":
            self.rows = self.tables.setdefault(attributes.get("id"), [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = ""
        elif tag == "script" and attributes.get("type") == "application/json":
            self.script = attributes["id"]
        elif tag == "p" and "id" in attributes:
            self.paragraph = attributes["id"]

    def handle_data(self, text):
        if self.script:
            self.scripts[self.script] = self.scripts.get(self.script, "") + text
        elif self.cell is not None:
            self.cell += text
        elif self.paragraph:
            self.texts[self.paragraph] = self.texts.get(self.paragraph, "") + text

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None
        elif tag == "script":
            self.script = None
        elif tag == "p":
            self.paragraph = None


def number(value):
    """As page.js writes it."""
    if value is None:
        return "–"
    size = abs(value)
    if size and (size >= 1e6 or size < 1e-3):
        digits, power = f"{value:.2e}".split("e")
        return f"{digits}e{int(power):+d}"
    text = f"{float(f'{value:.3e}'):.10f}"
    return text.rstrip("0").rstrip(".")


def size(value):
    units = ["B", "KB", "MB", "GB", "TB"]
    unit = 0
    while value >= 1024 and unit < 4:
        value, unit = value / 1024, unit + 1
    return f"{value:.{1 if unit and value < 100 and value % 1 else 0}f} {units[unit]}"


def equal(what, found, expected):
    assert found == expected, f"{what}: the page says {found}, but JSON {expected}"


def is_usable(value):
    return isinstance(value, (int, float)) and value > 0 and math.isfinite(value)


def readable(drawn):
    """What a legend shows tells its series apart, nothing hides what lies under
    it, and an axis that is not logarithmic has its numbers in one form."""
    for chart in drawn:
        looks = [(one["strokeStyle"], one["symbol"], one["lineDash"])
                 for one in chart["legend"]]
        for look in looks:
            assert looks.count(look) == 1, f"{chart['title']}: {look} twice in the legend"
        dashes = {one["text"]: one["lineDash"] for one in chart["legend"]}
        for one in chart["legend"]:
            if one["text"].endswith("predicted"):
                assert one["symbol"] == "line", one
            if one["text"] == "the simulation's floor":
                assert one["order"] > max(other["order"] for other in chart["legend"]
                                          if other is not one), "the floor hides points"
        if dashes.get("attn, predicted") == [] and "ffn, predicted" in dashes:
            assert dashes["ffn, predicted"], "the legend has no dashes"
        if chart["title"] == "Rate":
            forms = {"e" in label for label in chart["ticks"] if label != "0"}
            assert len(forms) == 1, f"{chart['title']}: {chart['ticks']}"


def depth(dom, data, drawn):
    of = {
        "Second moment at the residual sum": lambda m: m["sum"],
        "Second moment of the stream": lambda m: m["out"],
        "Weight of the stack's input": lambda m: m["input_weight"],
        "Second moment of the gradient": lambda m: m["gradient"],
        "First update, SGD": lambda m: m["update"]["sgd"],
        "First update, Adam": lambda m: m["update"]["adam"],
        "First update, LAMB": lambda m: m["update"]["lamb"],
    }
    measured = {"Second moment at the residual sum": "measured_second_moment",
                "Second moment of the stream": "measured_out"}
    exact = {title: lambda m, stack, key=key: m["update"][key] *
             (stack["update_predicted"][key] / stack["update_exact"][key])
             for title, key in (("First update, SGD", "sgd"), ("First update, Adam", "adam"),
                                ("First update, LAMB", "lamb"))}
    exact["Second moment of the gradient"] = lambda m, stack: m["gradient"]
    points = 0
    for i, stack in enumerate(data["stacks"]):
        rows = dom.tables[f"units-{i}"][1:]
        equal("rows", len(rows), len(stack["units"]))
        for row, unit in zip(rows, stack["units"]):
            equal("a unit", row, [
                str(unit["layer"]), unit["unit"], number(unit["predicted"]["sum"]),
                number(unit["simulated"]["sum"]), number(unit["predicted"]["input_weight"]),
                number(unit["predicted"]["branch_weight"]),
                number(unit["predicted_narrow"]["gradient"]),
                number(unit["simulated"]["gradient"]),
                number(unit["range"]["predicted_largest"]),
                number(unit["range"].get("measured_largest")),
                number(unit["range"].get("bound"))])
        kinds = list(dict.fromkeys(unit["unit"] for unit in stack["units"]))
        for title, number_of in of.items():
            chart = drawn[i * len(drawn) // len(data["stacks"]):]
            chart = next(one for one in chart if one["title"] == title)
            series = {one["label"]: one["points"] for one in chart["series"]}
            for name in kinds:
                units = [unit for unit in stack["units"] if unit["unit"] == name]
                wanted = {"predicted": lambda u: number_of(u["predicted_narrow"]),
                          "simulated": lambda u: number_of(u["simulated"])}
                if title in measured and "sample" in data:
                    wanted["measured"] = lambda u: u["range"][measured[title]]
                if title in exact and "loss" in data:
                    wanted["exact"] = lambda u: exact[title](u["exact"], stack)
                for source, value in wanted.items():
                    expected = [{"x": u["layer"], "y": value(u)} for u in units
                                if is_usable(value(u))]
                    equal(f"{title}, {name}, {source}",
                          series.get(f"{name}, {source}", []), expected)
                    points += len(expected)
        floor = [one for one in drawn if one["title"] == "Weight of the stack's input"]
        level = floor[i]["series"][-1]
        equal("the floor", (level["label"], level["points"][0]["y"]),
              ("the simulation's floor", data["simulated_cosine_floor"]))
    assert points
    return f"{len(drawn)} charts, {points} points"


def report(dom, data, drawn):
    within = lambda one: (f"{one['entry']}: " if "entry" in one else "") + one["unit"]
    fused = [one for one in data["fusions"] if one["status"] == "fused"]
    equal("fusions", dom.tables["fusions"][1:], [
        [one["boundary"], within(one), one["layers"] or "–",
         ("✓ " if one in fused else "× ") + one["status"],
         size(one["bytes_saved"]) if one in fused else "–",
         str(one["launches_saved"]) if one in fused else "–", one["reason"]]
        for one in data["fusions"]])
    assert dom.texts["fused"].startswith(
        f"{len(fused)} of {len(data['fusions'])} boundaries are fused: "
        f"{size(sum(one['bytes_saved'] for one in fused))} less")
    equal("rewrites", [row[:4] for row in dom.tables["rewrites"][1:]],
          [[one["name"], within(one), one["layers"] or "–",
            ("✓ " if one["status"] == "applied" else "× ") + one["status"]]
           for one in data["rewrites"]])
    equal("certificate", [row[0] for row in dom.tables["certificate"][1:]],
          [one["what"] for one in data["certificate"]["measured"]])
    kernels = dom.tables["kernels"][1:]
    equal("kernels", [[row[0], row[1], row[3]] for row in kernels],
          [[one["does"], str(one["places"]), size(one["weight_bytes"])]
           for one in data["kernels"]])
    for entry in data["entries"]:
        rows = dom.tables[f"steps-{entry['name']}"][1:]
        equal("steps", [row[1] for row in rows], [s["does"] for s in entry["steps"]])
        most = 0
        for i, row in enumerate(rows):
            live = sum(b["bytes"] for b in entry["buffers"] if b["first"] <= i <= b["last"])
            equal("memory of a step", row[3], size(live))
            assert live <= entry["arena_bytes_per_row"], (live, entry["name"])
            most = max(most, live)
        assert most, "nothing is in the arena"
    charts = {one["title"]: one["series"] for one in drawn}
    arena = charts["The arena over the program"]
    equal("buffers", [[p for p in one["points"] if p][0] for one in arena],
          [[b["offset"], b["offset"] + b["bytes"]] for b in data["entries"][0]["buffers"]])
    run = data["measured"]
    points = sorted((p["x"], p["y"]) for one in charts["Kernels on a roofline"]
                    for p in one["points"] if "one" in p)
    known = [one for one in run["kernels"] if one["flops"] and one.get("bytes")]
    equal("roofline", points, sorted((one["flops"] / one["bytes"],
                                      one["gflops"] * run["threads"]) for one in known))
    assert points, "no kernel on the roofline"
    above = [one for one in run["kernels"]
             if one["gflops"] * run["threads"] > run["peak_gflops"] > 0]
    said = re.findall(r"busy .*: (\d+) of (\d+) kernels", dom.texts.get("busy", ""))
    equal("above the peak", said, [(str(len(above)), str(len(run["kernels"])))][:len(above)])
    equal("times", charts["Where the time goes"][0]["points"],
          sorted((one["ms"] for one in run["kernels"]), reverse=True)[:12])
    return (f"{len(kernels)} kernels, {len(fused)} fusions, {len(points)} on the roofline, "
            f"{len(above)} above the peak")


def loss(dom, log, drawn):
    """`log`: what --log says of the same training."""
    charts = {one["title"]: {s["label"]: s["points"] for s in one["series"]} for one in drawn}
    steps = [one for one in log if "loss" in one]
    evaluations = [one for one in log if "eval_loss" in one]
    pairs = lambda list_, key: [{"x": one["step"], "y": one[key]} for one in list_]
    equal("losses", charts["Loss"]["training"], pairs(steps, "loss"))
    equal("evaluations", charts["Loss"]["--eval"], pairs(evaluations, "eval_loss"))
    equal("lengths", charts["Length of the gradient"]["length"],
          pairs(steps, "gradient_norm"))
    equal("rates", charts["Rate"]["rate"], pairs(steps, "rate"))
    (low, high), = [one["axis"] for one in drawn if one["title"] == "Rate"]
    most = max(one["rate"] for one in steps)
    assert low == 0 and most <= high <= 2 * most, f"rates to {most} on {low} to {high}"
    return f"{len(drawn)} charts, {len(steps)} steps, {len(evaluations)} evaluations"


def corner(path):
    """The colour of a PNG's first pixel, which no filter of PNG changes."""
    with open(path, "rb") as file:
        rest, pixels = file.read()[8:], b""
    while rest:
        length, name = struct.unpack(">I4s", rest[:8])
        if name == b"IDAT":
            pixels += rest[8:8 + length]
        rest = rest[12 + length:]
    return "#" + zlib.decompress(pixels)[1:4].hex()


folder = os.path.dirname(os.path.abspath(shot))
done = subprocess.run(
    [browser, "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
     "--user-data-dir=" + os.path.join(folder, "browser"), "--window-size=1300,3400",
     "--virtual-time-budget=10000", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
     "--dump-dom", "--screenshot=" + os.path.abspath(shot),
     "file://" + os.path.abspath(page)],
    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
assert not console, "\n".join(console)
dom = Dom()
dom.feed(done.stdout)
assert not dom.errors, dom.errors
with open(other) as file:
    data = [json.loads(line) for line in file] if kind == "loss" else json.load(file)
if kind != "loss":
    equal("the data", json.loads(dom.scripts["data"]), data)
drawn = json.loads(dom.scripts["drawn"])
readable(drawn)
print({"depth": depth, "report": report, "loss": loss}[kind](dom, data, drawn))
assert os.path.getsize(shot) > 50000, "the picture is empty"
equal("the paper", corner(shot), "#14181e" if dark else "#ffffff")
