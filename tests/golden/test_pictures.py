"""Pictures of the page against the tables they draw: the roofline's dots, the boxes of modules, collectives by size."""
import html
import os
import re
import sys
import tempfile

from checks import expect, finish, run
from raw_trace import analyze, recordings

NUMBER = r"([-\d.]+)"


def pictures(page):
    """By title, the drawing that stands between its heading and the next."""
    found = {}
    for part in re.split(r"(?=<h[23])", page):
        title, drawn = re.match(r"<h[23][^>]*>([^<]*)<", part), re.search(r'<svg class="chart[^"]*".*?>(.*?)</svg>', part, re.S)
        if title and drawn:
            found[html.unescape(title[1])] = drawn[1]
    return found


def check_roofline(name, drawn, answer):
    wanted = [row for row in answer["categories"] if row["flop"] and row["moved_bytes"]]
    dots = re.findall(rf'<circle cx="{NUMBER}" cy="{NUMBER}" r="5"><title>([a-z_]+): ', drawn)
    expect({dot[2] for dot in dots} == {row["name"] for row in wanted}, name, "dots", dots)
    place = {kind: (float(x), -float(y)) for x, y, kind in dots}
    for axis, key in ((0, "flop_per_byte"), (1, "flop_per_s")):
        rows = sorted(wanted, key=lambda r: r[key])
        for a, b in zip(rows, rows[1:]):
            expect(place[a["name"]][axis] <= place[b["name"]][axis] + 0.11, name, key, a["name"], b["name"])


def check_boxes(name, drawn, answer):
    boxes = [(float(x), float(y), float(w), html.unescape(t), float(s)) for x, y, w, t, s in
             re.findall(rf'<rect x="{NUMBER}" y="{NUMBER}" width="{NUMBER}" height="19"><title>(.*?): [^<]*?, (?:&lt;)?([\d.]+) %</title>', drawn)]
    total = sum(row["time_ns"] for row in answer["kernels"])
    wanted = [row for row in answer["module_tree"] if row["time_ns"] * 2000 >= total and row["depth"] < 24]
    expect(len(boxes) == len(wanted), name, "boxes", len(boxes), len(wanted))
    for (x, y, width, title, share), row in zip(boxes, wanted):
        expect(title == row["name"].strip() and y == 20 * (row["depth"] - 1), name, title, row["name"], y)
        expect(abs(width - max(0.5, 760 * row["time_ns"] / total - 1)) < 0.2, name, title, width, row["share"])
        over = [b for b in boxes if b[1] == y - 20 and b[0] <= x + 0.2 and b[0] + b[2] + 1 >= x + width - 0.2]
        expect(y == 0 or len(over) == 1, name, title, "stands below its parent", over)


def check_collectives(name, drawn, answer):
    wanted = [row for row in answer["exchanges"] if row["bytes"] and row["busbw_bytes_per_s"]]
    expect(len(re.findall("<circle ", drawn)) == len(wanted), name, "a dot for each collective and size")


def check_bars(name, page, answer):
    """The bars of stages and that of all of them are drawn on one scale: a bar is as wide as its share of the step."""
    bars = re.search(r'<div class="bars">(.*?)</div>\n</div>', page, re.S)[1]
    widths = {label: sum(map(float, re.findall(r'<rect x="[-\d.]+%" width="([\d.]+)%"', drawn)))
              for label, drawn in re.findall(r'aria-label="([^"]*)">(.*?)</svg>', bars, re.S)}
    total = sum(sum(row.values()) for row in answer["matrix"].values())
    for stage, row in answer["matrix"].items():
        expect(abs(widths.get(stage, 0) - 100 * sum(row.values()) / total) < 0.5, name, stage, widths)
    expect(abs(widths.get("total", 100) - 100) < 0.5, name, widths)


CHECKS = {"Kinds of work under the device's roofline": check_roofline, "Device time by module, each below the one around it": check_boxes,
          "Bandwidth of collectives by their size": check_collectives}
seen = set()
for name, path in recordings().items():
    if name.startswith(("tl_", "hta_resnet", "hta_dlrm")):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "a.html")
            expect(run("analyze", path, "-o", page)[0] == 0, name)
            with open(page) as file:
                text = file.read()
        drawn, answer = pictures(text), analyze(path)
        if len([row for row in answer["matrix"].values() if any(row.values())]) > 1:
            check_bars(name, text, answer)
        for title, check in CHECKS.items():
            if title in drawn:
                seen.add(title)
                check(name, drawn[title], answer)
if recordings():
    expect(seen == set(CHECKS), "every picture was seen", seen)
sys.exit(finish())
