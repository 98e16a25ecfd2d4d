"""Whether another batch, or another device, fits: from a recording's memory events, by hand; without them, it is said."""
import json
import os
import sys
import tempfile

import planted_traces
from checks import expect, finish, run

GB = 10 ** 9
HELD, PEAK, SAMPLES = 10 * GB, 30 * GB, 32


def memory(ts, held, change, totals=True):
    args = {"Bytes": change, "Addr": 4096, "Device Id": 0, "Device Type": 1}
    if totals:
        args.update({"Total Allocated": held, "Total Reserved": held})
    return {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 100, "ts": ts, "args": args}


def recording(folder, name, events):
    rank = planted_traces.Rank()
    planted_traces.steps(rank, 3, lambda rank, _: planted_traces.layers(rank, 4))
    rank.events += events
    return rank.write(os.path.join(folder, name + ".json"))


def ask(path, *words):
    code, out, err = run("predict", path, "--samples", str(SAMPLES), *words, "--format", "json")
    expect(out, words, err)
    answer = json.loads(out)
    return code, answer["summary"][0], {one["code"]: one for one in answer["warnings"]}


def test(folder):
    grows = [memory(1001, HELD + 2, 2), memory(1500, PEAK, PEAK - HELD - 2), memory(2000, HELD, HELD - PEAK)]
    known = recording(folder, "known", grows)
    bytes_of = {"a100-80-sxm": 85899345920, "t4": 16 * 1024 ** 3}
    for batch in (16, 64, 128, 256, 1024):  # what was held stays, the rest grows with the samples
        need, has = HELD + (PEAK - HELD) * batch / SAMPLES, bytes_of["a100-80-sxm"]
        code, first, warnings = ask(known, "--on", "a100-80-sxm", "--batch", str(batch))
        wanted = "does_not_fit" if need > 1.25 * has else "may_not_fit" if need > has else None
        found = [one for one in ("does_not_fit", "may_not_fit", "memory_unknown") if one in warnings]
        expect(found == ([wanted] if wanted else []) and code == (1 if wanted == "does_not_fit" else 0), batch, need / has, code, warnings)
        if wanted == "does_not_fit":
            expect(first.startswith("Does not fit: ") and "--batch 64." in first, first)  # 50 of 86 GB; 128 take 90
            expect(f"{need / has:.1f} times as much" in first, first)
    code, out, err = run("predict", known, "--on", "t4", "--format", "json")
    expect(code == 1 and json.loads(out)["summary"][0].startswith("Does not fit: with \"on t4\""), code, err)
    silent = recording(folder, "silent", [])
    code, _, warnings = ask(silent, "--batch", "64")
    expect(code == 0 and "memory_unknown" in warnings, code, warnings)
    code, _, warnings = ask(silent, "--batch", "16")  # less than what ran
    expect(code == 0 and "memory_unknown" not in warnings, code, warnings)
    changes = recording(folder, "changes", [memory(1001, 0, 20 * GB, False), memory(2000, 0, -20 * GB, False)])
    code, first, warnings = ask(changes, "--batch", "1024")  # a lower bound proves that it does not fit
    expect(code == 1 and "at least" in first and "It would fit" not in first, code, first)
    code, _, warnings = ask(changes, "--batch", "64")  # and nothing else
    expect(code == 0 and "memory_unknown" in warnings, code, warnings)


with tempfile.TemporaryDirectory() as work:
    test(work)
sys.exit(finish())
