"""One step recorded on two devices: each predicted from the other's trace, by the ladder alone and with other steps'
pairs (`--calibrate`). The reference traces are other people's and not shipped.
"""
import json
import math
import os
import subprocess
import sys

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
MODELS = ["bert_small_infer", "vit_infer", "qwen05b_generate"]
DEVICES = {"h100": "h100-80-sxm", "mi300": "mi300x"}
cache = {}


def trace(model, device):
    return os.path.join(SHARED, "kineto", f"tl_{model}_1x{device}.json.gz")


def predict(*words):
    if words not in cache:
        cache[words] = json.loads(subprocess.run([PACELINE, "predict", "-f", "json", *words], capture_output=True, check=True).stdout)
    return cache[words]


def directions():
    for here, there in (("h100", "mi300"), ("mi300", "h100")):
        for model in MODELS:
            yield model, here, there


def pair(model, here, there):
    return ("--calibrate", trace(model, here) + "=" + trace(model, there))


def check_refusals():
    here, there = trace("vit_infer", "h100"), trace("vit_infer", "mi300")
    for words, status in ((("--calibrate", here), 2), (("--calibrate", f"{here}={here}"), 3), (("--calibrate", f"{here}=/nosuch"), 3),
                          (("--calibrate", f"{here}={there}", "--calibrate", f"{there}={here}"), 3)):
        done = subprocess.run([PACELINE, "predict", here, "--on", "mi300x", *words], capture_output=True, text=True)
        assert done.returncode == status, (words, done.returncode, done.stderr)
        assert len(done.stderr.strip().splitlines()) == 1 and not done.stdout, (words, done.stderr)


def check_own_pair():
    """Calibrated by its own pair each family comes a third (start and work alike) to half (one of them alone) of the way to what
    was recorded, and its spread is smaller."""
    for m, a, b in directions():
        there = {f["family"]: f for f in predict(trace(m, b))["families"]}
        plain = predict(trace(m, a), "--on", DEVICES[b])["families"]
        known = predict(trace(m, a), "--on", DEVICES[b], *pair(m, a, b))["families"]
        for before, after in zip(plain, known):
            if before["family"] not in there:
                assert after == before, (before, after)
            else:
                assert after["calibrated"] == after["launches"], after
                assert after["spread"] < before["spread"], (before, after)
                goal = math.log(there[before["family"]]["kernel_ns"] / before["kernel_ns"])
                way = math.log(after["kernel_ns"] / before["kernel_ns"])
                low, high = sorted((goal / 3, goal / 2))
                assert low - 0.05 < way < high + 0.05, (m, before, after, goal)


def main():
    if not os.path.isdir(os.path.join(SHARED, "kineto")):
        print("skipped: the reference data are not at hand")
        return 77
    check_refusals()
    check_own_pair()
    return 0


if __name__ == "__main__":
    sys.exit(main())
