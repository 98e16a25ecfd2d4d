"""The page of `analyze` in headless Chromium: the timeline holds what the trace holds, and answers to wheel, keys, pointer and
search; tables lead to slices; narrow screens, print, and readers without a script get all of it; hostile names stay text."""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "golden")]
from chromium import Page  # noqa: E402
import planted_traces  # noqa: E402

PACELINE = os.environ["PACELINE"]
DEMO = os.path.join(HERE, "..", "data", "demo.json.gz")
JOBS = os.path.join(os.path.dirname(DEMO), "jobs_synthetic.csv.gz")
FOLDER = tempfile.TemporaryDirectory()
TRACE = planted_traces.slow_loader(os.path.join(FOLDER.name, "trace.json.gz"))[0]
VIEW = "document.querySelector('.timeline').timelineView"


def expect(holds, *what):
    if not holds:
        raise AssertionError(what)


def page_of(*words):
    path = os.path.join(FOLDER.name, "page%d.html" % len(os.listdir(FOLDER.name)))
    subprocess.run([PACELINE, *words, "-o", path], check=True)
    return path


def events(path):
    with (gzip.open(path) if path.endswith(".gz") else open(path)) as file:
        return [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]


def ns(us):
    return round(us * 1000)


def view(page):
    """What the plot shows: (from, to), ns."""
    return tuple(page.eval("[%s.from, %s.to]" % (VIEW, VIEW)))


def plot(page):
    """The canvas: left, top, width, height."""
    return page.eval("(() => { const b = document.querySelector('.tl-body canvas').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()")


def show_timeline(page):
    page.eval("document.querySelector('.timeline').scrollIntoView()")
    page.settle()
    return plot(page)


SLICES = """(() => { const v = %s, d = v.data; return d.lanes.flatMap((lane) => lane.kind === 'summary' ? [] : Array.from({length: lane.count}, (_, i) =>
    [d.nameOf(lane, i), d.kindOf(lane, i), lane.starts[i], lane.ends[i] - lane.starts[i], lane.name])); })()""" % VIEW


def test_every_slice_to_the_nanosecond(page, trace=TRACE):
    found = page.eval(SLICES)
    kinds = {"cpu_op": "operator", "kernel": "kernel", "cuda_runtime": "runtime call", "gpu_memcpy": "copy", "gpu_memset": "memory set",
             "user_annotation": "annotation", "python_function": "Python frame"}
    wanted = [(e["name"], kinds[e["cat"]], ns(e["ts"]), ns(e["dur"])) for e in events(trace) if e.get("cat") in kinds]
    first, zero = min(w[2] for w in wanted), min(s[2] for s in found)
    wanted = collections.Counter((name, kind, start - first, length) for name, kind, start, length in wanted)
    got = collections.Counter((name, kind, start - zero, length) for name, kind, start, length, _ in found)
    expect(len(wanted) > 100 and got == wanted, list((got - wanted).items())[:3], list((wanted - got).items())[:3])


def test_launches(page):
    """Each kernel is linked to the call of its correlation."""
    found = page.eval("""(() => { const d = %s.data; return d.lanes.filter((lane) => lane.kind === 'stream').flatMap((lane) =>
        Array.from({length: lane.count}, (_, i) => { const c = d.find(lane.causes[i]); return [lane.starts[i], c.lane.starts[c.i], d.nameOf(c.lane, c.i)]; })); })()""" % VIEW)
    calls = {e["args"]["correlation"]: e for e in events(TRACE) if e.get("cat") == "cuda_runtime" and "correlation" in e.get("args", {})}
    work = [e for e in events(TRACE) if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    wanted = sorted((ns(e["ts"]) - ns(calls[e["args"]["correlation"]]["ts"]), calls[e["args"]["correlation"]]["name"]) for e in work)
    expect(sorted((start - called, name) for start, called, name in found) == wanted)


def test_wheel(page):
    left, top, width, height = show_timeline(page)
    x, y = left + width / 4, top + 60
    before, scrolled = view(page), page.eval("scrollY")
    page.wheel(x, y, 120)
    expect(view(page) == before, "the wheel is the page's")
    page.eval("new Promise(done => setTimeout(done, 400))")
    expect(page.eval("scrollY") != scrolled, "and scrolls it")
    left, top, width, height = show_timeline(page)
    page.wheel(x, y, -120, ctrl=True)
    after = view(page)
    expect(after[1] - after[0] < before[1] - before[0], "with Ctrl it zooms", before, after)
    held = before[0] + (before[1] - before[0]) / 4
    expect(abs(after[0] + (after[1] - after[0]) / 4 - held) < (before[1] - before[0]) * 0.01, "at the pointer")


def test_keys(page):
    left, top, width, height = show_timeline(page)
    page.eval("document.querySelector('.tl-body').focus({preventScroll: true})")
    page.key("0")
    whole = view(page)
    page.mouse("mouseMoved", left + width / 2, top + 60)
    for key, changes in (("w", lambda a, b: b[1] - b[0] < a[1] - a[0]), ("d", lambda a, b: b[0] > a[0]), ("a", lambda a, b: b[0] < a[0]),
                         ("s", lambda a, b: b[1] - b[0] > a[1] - a[0])):
        before = view(page)
        page.key(key)
        expect(changes(before, view(page)), key, before, view(page))
    page.key("0")
    expect(view(page) == whole, "0 goes back")
    before = view(page)
    page.wheel(left + width / 2, top + 60, -120)
    expect(view(page)[1] - view(page)[0] < before[1] - before[0], "with focus the wheel zooms")
    page.key("0")


def test_zoom_reaches_single_nanoseconds(page):
    show_timeline(page)
    page.eval("%s.show(1000, 1001)" % VIEW)
    low, high = view(page)
    expect(high - low <= 20 and low <= 1000 <= high, low, high)
    page.eval("%s.show(0, %s.data.span_ns)" % (VIEW, VIEW))


def test_search(page):
    show_timeline(page)
    names = collections.Counter(e["name"] for e in events(TRACE) if e.get("cat") in ("cpu_op", "kernel", "cuda_runtime", "gpu_memcpy", "gpu_memset", "user_annotation"))
    word = "addmm"
    wanted = sum(count for name, count in names.items() if word in name.lower())
    page.eval("document.querySelector('.tl-bar input[type=search]').focus()")
    page.type(word)
    page.key("Enter")
    text = page.eval("document.querySelector('.tl-found').textContent")
    expect(wanted > 0 and (" of %s found" % format(wanted, ",")) in text, wanted, text)
    first = page.eval("%s.data.nameOf(%s.selected.lane, %s.selected.i)" % (VIEW, VIEW, VIEW))
    start = page.eval("%s.selected.lane.starts[%s.selected.i]" % (VIEW, VIEW))
    page.key("Enter")
    expect(word in first.lower() and page.eval("%s.selected.lane.starts[%s.selected.i]" % (VIEW, VIEW)) >= start, first)
    page.eval("(() => { const s = document.querySelector('.tl-bar input[type=search]'); s.value = ''; s.dispatchEvent(new Event('input')); })()")
    page.eval("new Promise(done => setTimeout(done, 300))")
    page.eval("document.activeElement.blur()")


def test_click_shows_details(page):
    """A click on the longest kernel of the step: the panel names it, its launch and its operator."""
    left, top, width, height = show_timeline(page)
    page.eval("%s.show(0, %s.data.span_ns)" % (VIEW, VIEW))
    x, y, name = page.eval("""(() => { const v = %s, lane = v.data.lanes.find((l) => l.kind === 'stream'); let best = -1;
        for (let i = 0; i < lane.count; i++) if (v.data.kindOf(lane, i) === 'kernel' && lane.starts[i] >= 0 && lane.ends[i] <= v.data.span_ns &&
          (best < 0 || lane.ends[i] - lane.starts[i] > lane.ends[best] - lane.starts[best])) best = i;
        const b = v.boxOf({lane, i: best}); return [(b.left + b.right) / 2, b.top + b.height / 2, v.data.nameOf(lane, best)]; })()""" % VIEW)
    page.click(left + x, top + y)
    text = page.eval("document.querySelector('.tl-panel').innerText")
    expect(name in text and "Launched by" in text and "Operator" in text and "ns)" in text, name, text)
    page.eval("Array.from(document.querySelectorAll('.tl-panel a')).find((a) => a.textContent.startsWith('cuda')).click()")
    page.settle()
    text = page.eval("document.querySelector('.tl-panel').innerText")
    expect("runtime call" in text and "Device work" in text and name in text, "the call leads back", text)
    page.eval("document.querySelector('.tl-body').focus()")
    page.key("m")
    expect("Range of" in page.eval("document.querySelector('.tl-panel').innerText"), "M marks its range")
    page.key("Escape")
    expect(page.eval("document.querySelector('.tl-panel').hidden"), "Escape clears")


def test_range_adds_up(page):
    """A range drawn in the ruler: time on streams by name, as sums over the trace's kernels clipped to it."""
    left, top, width, height = show_timeline(page)
    page.eval("%s.show(0, %s.data.span_ns)" % (VIEW, VIEW))
    page.settle()
    page.drag(left + width * 0.25, top + 8, left + width * 0.75, top + 8)
    low, high = page.eval("%s.range" % VIEW)
    span = page.eval("%s.data.span_ns" % VIEW)
    expect(abs(low - span / 4) < span / 100 and abs(high - span * 3 / 4) < span / 100, low, high, span)
    kernels = [s for s in page.eval(SLICES) if s[4].startswith("Stream")]
    sums = collections.Counter()
    for name, _, start, length, _ in kernels:
        sums[name] += max(0, min(start + length, high) - max(start, low))
    best, most = sums.most_common(1)[0]
    rows = page.eval("Array.from(document.querySelectorAll('.tl-panel table')).map((t) => Array.from(t.rows, (r) => Array.from(r.cells, (c) => c.textContent)))")
    shares = sum(float(row[2].split()[0]) for row in rows[0][1:])
    expect(rows[0][0][0] == "Device time" and abs(shares - 100) < 0.5, "every instant has one resource", rows[0])
    scale = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
    value, unit = rows[1][1][1].split()
    expect(rows[1][1][0] == best and abs(float(value) * scale[unit] / most - 1) < 0.01, rows[1][1], best, most)
    page.eval("document.querySelector('.tl-panel .close').click()")


def test_rows_lead_to_slices(page):
    """The button of a kernel's row selects a slice of that name, in sight."""
    name = page.eval("""(() => { const b = Array.from(document.querySelectorAll('main .table .goto')).pop(); const cell = b.closest('td');
        const name = cell.title || cell.textContent; b.click(); return name; })()""")
    page.settle()
    page.settle()
    found = page.eval("%s.data.nameOf(%s.selected.lane, %s.selected.i)" % (VIEW, VIEW, VIEW))
    box = page.eval("(() => { const v = %s, b = v.boxOf(v.selected), c = document.querySelector('.tl-body canvas').getBoundingClientRect(); return [c.top + b.top, innerHeight]; })()" % VIEW)
    expect(found == name and 0 <= box[0] < box[1], name, found, box)
    low, high = view(page)
    start, end = page.eval("[%s.selected.lane.starts[%s.selected.i], %s.selected.lane.ends[%s.selected.i]]" % (VIEW, VIEW, VIEW, VIEW))
    expect(low <= start and end <= high, low, start, end, high)


def test_steps_can_be_chosen(page):
    page.eval("(() => { const s = document.querySelector('.tl-bar select'); s.value = '0'; s.dispatchEvent(new Event('change')); })()")
    first = view(page)
    page.eval("(() => { const s = document.querySelector('.tl-bar select'); s.value = 'all'; s.dispatchEvent(new Event('change')); })()")
    whole = view(page)
    expect(whole[0] <= first[0] and first[1] <= whole[1] and whole[1] - whole[0] > 1.5 * (first[1] - first[0]), first, whole)


def test_tables(page):
    sort = """(() => { const t = Array.from(document.querySelectorAll('main table')).find((t) => t.rows.length > 6 && t.tHead);
        const read = () => Array.from(t.tBodies[0].rows, (r) => r.cells[0].textContent).join('|');
        const heading = t.tHead.rows[0].cells[0]; heading.click(); const up = read(); heading.click(); return up !== read(); })()"""
    expect(page.eval(sort), "a click on a heading sorts")
    links = page.eval("Array.from(document.querySelectorAll('.contents a'), (a) => [document.querySelector(a.getAttribute('href')).querySelector('h2').textContent, a.textContent])")
    expect(len(links) > 4 and all(heading.startswith(text) for heading, text in links), links)
    expect(not page.eval("document.body.innerText").count("idle_"), "readable words")


def test_all_ranks(path):
    """Of several ranks one is open, the others unfold at a click on their names; a search finds slices in all of them."""
    with Page() as page:
        page.open(path)
        show_timeline(page)
        folded = "Array.from(document.querySelectorAll('.tl-names button'), (b) => b.getAttribute('aria-expanded'))"
        expect(page.eval(folded) == ["false", "false", "true", "false"], page.eval(folded))
        lanes = page.eval("document.querySelectorAll('.tl-names div').length")
        page.eval("document.querySelector('.tl-names button').click()")
        expect(page.eval(folded)[0] == "true" and page.eval("document.querySelectorAll('.tl-names div').length") > lanes)
        found = page.eval("(() => { const s = document.querySelector('.tl-bar input[type=search]'); s.value = 'ncclDevKernel'; s.dispatchEvent(new Event('input'));"
                          " return new Promise(done => setTimeout(() => done(new Set(%s.hits.found.map((h) => h.lane.group.name)).size), 400)); })()" % VIEW)
        expect(found == 4, found)
        expect(page.problems == [], page.problems)


def milliseconds(text):
    value, unit = text.split()
    return float(value) * {"ns": 1e-6, "µs": 1e-3, "ms": 1, "s": 1e3}[unit]


def test_pictures(path):
    """Bars of steps add up to the steps; the heat map shows the slow rank, and its cells lead to their steps."""
    with Page() as page:
        page.open(path)
        titles = page.eval("Array.from(document.querySelectorAll('.grid rect'), (r) => [r.getAttribute('data-row'), r.getAttribute('data-column'), r.textContent])")
        steps = page.eval("Array.from(document.querySelectorAll('main table')).find((t) => t.rows[0].cells[0].textContent === 'step').innerText")
        sums = collections.Counter()
        for row, column, title in titles:
            if row is None:
                sums[column] += milliseconds(" ".join(title.split()[-2:]))
                whole = milliseconds(title.split("(")[1].split(")")[0])
                expect(title.split("(")[1].split(")")[0] in steps, title, steps)
        expect(len(sums) == 5 and all(abs(value / whole - 1) < 0.01 for value in sums.values()), sums, whole)
        own = {(row, column): milliseconds(title.split(": ")[1].split(",")[0]) for row, column, title in titles if row}
        expect(len(own) == 20 and all(own["rank 2", column] > 1.3 * own[row, column] for row, column in own if row != "rank 2"), own)
        page.eval("document.querySelector('.grid rect[data-row=\"rank 1\"]').dispatchEvent(new Event('click'))")
        page.settle()
        seen = page.eval("[%s.selected.lane.group.name, %s.data.nameOf(%s.selected.lane, %s.selected.i), %s.selected.lane.group.open]" % ((VIEW,) * 5))
        expect(seen == ["rank 1", "ProfilerStep#1", True], seen)
        expect(page.problems == [], page.problems)


def test_comparison():
    """Two traces on one axis: a group each, whose typical steps both begin at 0 and are as long as the traces say."""
    paths = [planted_traces.slow_loader(os.path.join(FOLDER.name, "side%d.json" % i))[0] for i in range(2)]
    with open(paths[1]) as file:
        later = json.load(file)
    for one in later["traceEvents"]:
        one["ts"] = one.get("ts", 0) * 2 + 12345
        one["dur"] = one.get("dur", 0) * 2
    with open(paths[1], "w") as file:
        file.write(json.dumps(later))
    with Page() as page:
        page.open(page_of("compare", *paths))
        groups = page.eval("%s.data.groups.map((g) => g.name)" % VIEW)
        expect(len(groups) == 2 and groups[0].startswith("A: ") and groups[1].startswith("B: "), groups)
        lengths = [page.eval("""(() => { const d = %s.data, lane = d.lanes.find((l) => l.group === d.groups[%d] && l.name === 'Steps');
            for (let i = 0; i < lane.count; i++) if (lane.starts[i] === 0) return lane.ends[i]; return null; })()""" % (VIEW, side)) for side in range(2)]
        expect(None not in lengths and abs(lengths[1] / lengths[0] - 2) < 0.01, lengths)
        left = page.eval("""[...document.querySelectorAll('td.t:first-child')].filter((cell) => cell.offsetWidth && cell.textContent.trim()).map((cell) => {
            const range = document.createRange(), text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode(), deep = text.data.search(/\\S/);
            range.setStart(text, deep); range.setEnd(text, deep + 1);
            return [deep, range.getBoundingClientRect().left - cell.getBoundingClientRect().left];
        })""")
        plain, deep = min(x for indent, x in left if indent == 0), [x for indent, x in left if indent >= 2]
        expect(deep and min(deep) > plain + 4, "call paths are indented", plain, deep[:5])
        expect(page.problems == [], page.problems)
    test_narrow(page_of("compare", *paths))


def test_flames():
    """Boxes of call stacks lie inside the one above them; a click widens a box over the whole, a second one shows all again."""
    rank = planted_traces.Rank()
    with rank.annotate("ProfilerStep#1"), rank.function("lib/deep/train.py(10): main"):
        for layer, host_us in (("small", 10), ("large", 60)):
            with rank.function("nn.Module: %s_0" % layer):
                rank.kernel("aten::" + layer, 50, host_us=host_us)
    with Page() as page:
        page.open(page_of("analyze", rank.write(os.path.join(FOLDER.name, "flames.json"))))
        boxes = """Array.from(document.querySelectorAll('svg.flame'), (svg) => Array.from(svg.querySelectorAll('g'), (g) => { const r = g.querySelector('rect').getBoundingClientRect();
            return [g.querySelector('title').textContent, r.left, r.right, r.top, r.bottom, r.width, (g.querySelector('text') || {}).textContent]; }))"""
        found = page.eval(boxes)
        expect(len(found) == 3, "modules, host time, device time", len(found))
        main, large = (next(box for title, *box in found[1] if title.startswith(name)) for name in ("lib/deep/train.py(10): main", "nn.Module: large"))
        expect(main[5] == "train.py(10): main" and large[5] == "large", main, large)
        for title, left, right, top, bottom, *_ in found[1]:
            above = [b for b in found[1] if abs(b[4] - top) < 1.5 and b[1] <= left + 1 and b[2] >= right - 1]
            expect(top == min(b[3] for b in found[1]) or len(above) == 1, title, above)
        click = "Array.from(document.querySelectorAll('svg.flame')[1].querySelectorAll('g')).find((g) => g.textContent.includes('nn.Module: large')).dispatchEvent(new Event('click', {bubbles: true}))"
        page.eval(click)
        page.settle()
        wide = next(box for title, *box in page.eval(boxes)[1] if title.startswith("nn.Module: large"))
        expect(abs(wide[4] - page.eval("document.querySelectorAll('svg.flame')[1].clientWidth")) < 2 and wide[4] > large[4] * 1.1, wide, large)
        said = page.eval("document.querySelectorAll('svg.flame')[1].nextElementSibling.textContent")
        expect(said.startswith("nn.Module: large: %.2f µs, " % (60 + planted_traces.LAUNCH_US)), said)
        page.eval(click)
        page.settle()
        expect(page.eval(boxes) == found, "the whole again")
        expect(page.problems == [], page.problems)


def test_details_of_backward_work():
    """A backward operator leads to its forward operator and names its module; a kernel says how it was launched."""
    def event(category, name, thread, at, length, **args):
        return {"ph": "X", "cat": category, "name": name, "pid": 0 if category == "kernel" else 1, "tid": thread, "ts": at, "dur": length, "args": args}
    trace = [event("python_function", "nn.Module: Linear_3", 1, 10, 90), event("cpu_op", "aten::linear", 1, 20, 70, **{"Sequence number": 5, "External id": 1}),
             event("cuda_runtime", "cudaLaunchKernel", 1, 30, 5, correlation=1), event("kernel", "forward_kernel", 7, 40, 30, correlation=1, device=0, stream=7),
             event("cpu_op", "LinearBackward0", 2, 200, 90, **{"Sequence number": 5, "Fwd thread id": 1, "External id": 2}),
             event("cuda_runtime", "cudaLaunchKernel", 2, 210, 5, correlation=2),
             event("kernel", "backward_kernel", 7, 230, 30, correlation=2, device=0, stream=7, grid=[2, 3, 4], block=[32, 1, 1], **{"est. achieved occupancy %": 50})]
    path = os.path.join(FOLDER.name, "links.json")
    with open(path, "w") as file:
        file.write(json.dumps({"traceEvents": trace}))
    with Page() as page:
        page.open(page_of("analyze", path))
        panel = """(() => { const v = %s; for (const lane of v.data.lanes) for (let i = 0; i < lane.count; i++)
            if (lane.kind !== 'summary' && v.data.nameOf(lane, i) === '%s') v.reveal({lane, i}); return document.querySelector('.tl-panel').innerText; })()"""
        text = page.eval(panel % (VIEW, "LinearBackward0"))
        expect("Backward of\naten::linear" in text and "backward of Linear_3" in text and "backward_kernel" in text, text)
        text = page.eval(panel % (VIEW, "backward_kernel"))
        expect("[2,3,4] blocks of [32,1,1] threads" in text and "50 % (estimated)" in text and "backward of Linear_3" in text, text)
        text = page.eval(panel % (VIEW, "forward_kernel"))
        expect("Module\nLinear_3" in text and "Operator\naten::linear" in text and "10.00 µs earlier" in text, text)
        expect(page.problems == [], page.problems)


def test_large():
    """A trace with more tasks than a page holds: below 10 MB, every task is counted once, and the page says what is merged."""
    path = os.path.join(FOLDER.name, "large.json")
    with open(path, "wb") as file:
        subprocess.run([os.environ["MAKE_TRACE"], "--bytes", "200M", "--steps", "6"], stdout=file, stderr=subprocess.DEVNULL, check=True)
    kinds = ("cpu_op", "kernel", "cuda_runtime", "cuda_driver", "gpu_memcpy", "gpu_memset", "user_annotation", "python_function")
    wanted = sum(1 for line in open(path) if '"ph": "X", "cat": "' in line and line.split('"cat": "')[1].split('"')[0] in kinds)
    found = page_of("analyze", path)
    os.remove(path)
    expect(os.path.getsize(found) < 10e6, os.path.getsize(found))
    with Page() as page:
        page.open(found)
        tasks, slices, whole = page.eval("""(() => { const v = %s, d = v.data; let tasks = 0, slices = 0, whole = true;
            d.lanes.forEach((lane) => { if (lane.kind === 'summary') return; for (let i = 0; i < lane.count; i++) { slices++; tasks += lane.counts ? lane.counts[i] + 1 : 1;
              if (lane.starts[i] >= 0 && lane.ends[i] <= d.span_ns && lane.counts && lane.counts[i]) whole = false; } }); return [tasks, slices, whole]; })()""" % VIEW)
        expect(tasks == wanted and slices < tasks and whole, tasks, wanted, slices, whole)
        expect("more tasks than a page holds" in page.eval("document.body.innerText"))
        expect(page.problems == [], page.problems)


def test_other_timelines():
    """Predicted steps, pipelines and simulated exchanges stand on the same timeline."""
    pipeline = ["gpt2", "--on", "hgx-a100-80"] + [word for setting in ("pp=2", "dp=4", "global_batch=8", "micro_batch=1") for word in ("--set", setting)]
    exchange = ["--kind", "exchange", "--simulate", "--on", "dgx-h100", "--algorithm", "ring", "--bytes", "1M", "--unfolded"]
    for words, groups in ((["resnet50", "--on", "a100-pcie-80"], 1), (pipeline, 2), (exchange, 8)):
        path = page_of("predict", *words)
        with Page() as page:
            page.open(path)
            left, top, width, height = show_timeline(page)
            found = page.eval("[%s.data.groups.length, %s.data.lanes.reduce((sum, lane) => sum + lane.count, 0)]" % (VIEW, VIEW))
            expect(found[0] == groups and found[1] > 50, words, found)
            page.drag(left + width * 0.2, top + 8, left + width * 0.8, top + 8)
            expect("Range of" in page.eval("document.querySelector('.tl-panel').innerText"), words)
            expect(page.problems == [], page.problems)
        test_narrow(path)


def test_narrow(path):
    """At 400 px no cell, bar or control lies off-screen, and no name is cut by the edge of its picture."""
    with Page(400, 800) as page:
        page.open(path)
        expect(page.eval("document.documentElement.scrollWidth") <= 400)
        out = page.eval("""Array.from(document.querySelectorAll('main td, main svg, main canvas, main button, main select, main p, main h2'))
            .filter((e) => e.offsetParent !== null && e.getClientRects().length && e.getBoundingClientRect().right > 401).map((e) => e.outerHTML.slice(0, 80))""")
        expect(out == [], out[:5])
        cut = page.eval("""Array.from(document.querySelectorAll('main svg.chart text'))
            .filter((e) => e.getBoundingClientRect().left < e.ownerSVGElement.getBoundingClientRect().left - 1).map((e) => e.textContent)""")
        expect(cut == [], cut[:5])
        expect(page.problems == [], page.problems)


def test_without_script(path):
    with Page(script=False) as page:
        page.open(path)
        expect(page.problems == [], page.problems)
        counts = page.call("DOM.getDocument", depth=-1)
        text = json.dumps(counts)
        expect(text.count('"nodeName": "rect"') > 20 and text.count('"nodeName": "TABLE"') > 4, "pictures and tables stand in the page itself")
        expect('"plain-lanes"' in text, "and a plain picture of the timeline")


def test_print(page):
    paper = page.pdf()
    expect(paper.startswith(b"%PDF") and len(paper) > 20000, len(paper))
    page.settle()


def test_hostile_names():
    """Names that would end the script element, open a comment in it, or be markup."""
    names = ["</script><script>window.hacked = 1</script>", "<!--<script>window.hacked = 2", "\u2028</SCRIPT ><img src=x onerror='window.hacked=3'>", "'\"&<b>"]
    trace, at = [], 0
    for n in range(40):
        name = names[n % len(names)]
        at += 1000
        trace.append({"ph": "X", "cat": "cpu_op", "name": "aten::" + name, "pid": 1, "tid": 1, "ts": at, "dur": 400, "args": {"External id": n + 1,
                      "Input Dims": [[2, 3]], "Input type": [name]}})
        trace.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 10, "dur": 20, "args": {"correlation": n + 1, "External id": n + 1}})
        trace.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 50, "dur": 300, "args": {"correlation": n + 1, "device": 0, "stream": 7}})
    path = os.path.join(FOLDER.name, "hostile.json")
    with open(path, "w") as file:
        file.write(json.dumps({"traceEvents": trace}))
    with Page() as page:
        page.open(page_of("analyze", path))
        expect(page.eval("window.hacked") is None)
        found = {s[0] for s in page.eval(SLICES) if s[1] == "kernel"}
        expect(found == set(names), found)
        page.eval("%s.select({lane: %s.data.lanes.find((l) => l.kind === 'stream'), i: 0})" % (VIEW, VIEW))
        for n in range(len(names)):
            page.eval("%s.step(1)" % VIEW)
            page.settle()
        expect(page.eval("window.hacked") is None and page.eval("document.querySelectorAll('img').length") == 0)
        expect(page.problems == [], page.problems)


def main():
    path = page_of("analyze", TRACE)
    with Page() as page:
        page.open(path)
        for test in (test_every_slice_to_the_nanosecond, test_launches, test_wheel, test_keys, test_zoom_reaches_single_nanoseconds, test_search,
                     test_click_shows_details, test_range_adds_up, test_rows_lead_to_slices, test_steps_can_be_chosen, test_tables, test_print):
            test(page)
            expect(page.problems == [], test.__name__, page.problems)
            print("passed", test.__name__)
    with Page() as page:
        page.open(page_of("analyze", DEMO))
        test_every_slice_to_the_nanosecond(page, DEMO)
    ranks = page_of("analyze", *planted_traces.slow_rank(os.path.join(FOLDER.name, "ranks.json.gz")))
    test_all_ranks(ranks)
    test_pictures(ranks)
    for one in (path, ranks):
        test_narrow(one)
        test_without_script(one)
    test_narrow(page_of("fleet", JOBS))
    test_hostile_names()
    test_details_of_backward_work()
    test_flames()
    test_comparison()
    test_large()
    test_other_timelines()


main()
