"""Tables of results as lines of Markdown. Must not measure."""
import statistics

import rounds


def percent(share):
    return "%.1f %%" % (100 * share) if share else "-"


def threads_told(count):
    return "1 thread" if count == 1 else "%d threads" % count


def peak_of(table, entry):
    """The peak of the entry's device or of the CPU; unknown for peers' devices."""
    return entry.get("peak_gflops") if entry.get("device") else table["peak_gflops"]


def row(table, entry):
    """The cells of a peer that was measured."""
    times = rounds.summary(entry["rounds"])
    rate = table["gflop"] / times["median"] * 1e3
    peak = peak_of(table, entry)
    share = rate / peak if peak else None
    cells = [entry["name"], "%.3f" % times["median"],
             "%.3f - %.3f" % (times["q1"], times["q3"]), "%.1f" % rate,
             percent(share), "%.2f" % entry["ratio"] if "ratio" in entry else "-",
             "%.1e" % entry["difference"], "%.1e" % entry["away"]]
    if table.get("deep"):
        cells[4:4] = ["%.1f" % (times["median"] * 1e3 / table["layers"]),
                      "%.2f" % entry["first_s"]]
    if not entry["agrees"]:
        cells[0] += " (differs)"
    return cells


def head(table):
    cells = ["%s, %s" % (table["dtype"], threads_told(table["threads"])), "median ms",
        "quartiles", "GFLOP/s", "of the peak", "time / mille's",
        "largest difference", "1 - cosine"]
    if table.get("deep"):
        cells[4:4] = ["us a layer", "s to the first result"]
    return cells


def line(cells):
    return "| " + " | ".join(cells) + " |"


def lines(table):
    """The table, its notes, the peers that compute otherwise, then those that could
    not be measured, with reasons."""
    return measured_lines(table) + [
        "* %s: %s" % (entry["name"], entry["differs_in"])
        for entry in departures(table)] + [
        "* %s: not available: %s" % (entry["name"], entry["refused"])
        for entry in refusals(table)] + [""]


def refusals(table):
    return [entry for entry in table.get("rows", table.get("cold", []))
            if "refused" in entry]


def departures(table):
    """The rows of peers that compute in another way than the model says."""
    return [entry for entry in table.get("rows", []) if entry.get("differs_in")]


def measured_lines(table):
    if "cold" in table:
        return cold_lines(table)
    if "compiling" in table:
        return compiling_lines(table)
    if "kernels" in table:
        return kernel_lines(table)
    cells = head(table)
    text = ["### " + table["title"], "", line(cells), "|" + "---|" * len(cells)]
    text += [line(row(table, entry)) for entry in table["rows"]
             if "refused" not in entry]
    text.append("")
    unit = "GOP/s" if table["dtype"] == "int8" else "GFLOP/s"
    if table["peak_gflops"]:
        text.append("* Peak %.1f %s." % (table["peak_gflops"], unit))
    text += ["* %s is on %s%s." % (
        entry["name"], entry["device"], ", peak %.1f %s" % (entry["peak_gflops"], unit)
        if entry.get("peak_gflops") else "")
        for entry in table["rows"] if entry.get("device")]
    text.append("* Differences are from %s." % table["compared_with"])
    if table["threads"] > 1 and table["round_trip_ns"]:
        text.append("* Core to core and back: %.0f ns." % table["round_trip_ns"])
    return text + ["* " + note for note in table.get("notes", [])]


def cold_lines(table):
    text = ["### " + table["title"], "",
            "| | median s | least - most | time / mille's |", "|---|---|---|---|"]
    best = next((entry["seconds"] for entry in table["cold"]
                 if entry["name"] == "mille" and "seconds" in entry), None)
    for entry in table["cold"]:
        if "refused" in entry:
            continue
        times = sorted(entry["seconds"])
        middle = times[len(times) // 2]
        text.append(line([entry["name"], "%.4f" % middle,
                          "%.4f - %.4f" % (times[0], times[-1]),
                          "%.1f" % (middle / sorted(best)[len(best) // 2])
                          if best else "-"]))
    return text + [""]


def compiling_lines(table):
    text = ["### " + table["title"], "", line([
        "model", "kernels made anew s", "kernels cached s",
        "without kernels and weights s", "library KB", "weights MB"]),
        "|---|---|---|---|---|---|"]
    return text + [line([
        entry["name"], "%.2f" % entry["anew"], "%.2f" % entry["cached"],
        "%.2f" % entry["program"], "%.0f" % (entry["library_bytes"] / 1e3),
        "%.1f" % (entry["weights_bytes"] / 1e6)])
        for entry in table["compiling"]]


def kernel_lines(table):
    text = ["### " + table["title"], "",
            "| kernel | type | size | us | rate | of the ceiling | ceiling |",
            "|---|---|---|---|---|---|---|"]
    for one in table["kernels"]:
        unit = ("GOP/s" if one["dtype"] == "int8" else "GFLOP/s") \
            if one["computes"] else "GB/s"
        text.append(line([one["name"], one["dtype"], one["size"], "%.1f" % one["us"],
                          "%.1f %s" % (one["rate"], unit), percent(one["share"]),
                          "%.1f" % one["ceiling"]]))
    return text


def in_short(results):
    """A line for each table, Mille and the peer that is nearest to it; then what
    their notes say of Mille."""
    cells = ["", "mille ms", "of the peak", "best peer", "its ms",
             "time / mille's"]
    text, notes = [line(cells), "|" + "---|" * len(cells)], []
    for result in results.values():
        for table in result["tables"]:
            short = cold_in_short if "cold" in table else measured_in_short
            cells = short(table)
            text += [line(cells)] if cells else []
            notes += ["* %s: %s" % (table["title"], note)
                      for note in table.get("notes", []) if note.startswith("mille")]
    return text + [""] + notes


def measured_in_short(table):
    found = {entry["name"]: entry for entry in table.get("rows", [])
             if "refused" not in entry}
    peers = [entry for name, entry in found.items() if not name.startswith("mille")]
    if "mille" not in found or not peers:
        return None
    ours = row(table, found["mille"])
    best = min(peers, key=lambda entry: entry["ratio"])
    return [table["title"], ours[1], ours[-4], best["name"], row(table, best)[1],
            "%.2f" % best["ratio"]]


def cold_in_short(table):
    middle = {entry["name"]: statistics.median(entry["seconds"]) * 1e3
              for entry in table["cold"] if "refused" not in entry}
    peers = [name for name in middle if not name.startswith("mille")]
    if "mille" not in middle or not peers:
        return None
    best = min(peers, key=middle.get)
    return [table["title"], "%.1f" % middle["mille"], "-", best,
            "%.1f" % middle[best], "%.2f" % (middle[best] / middle["mille"])]
