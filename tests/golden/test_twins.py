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


def busy(scenario):
    return scenario["compute_ns"] + scenario["memory_ns"] + scenario["exposed_ns"]


def directions():
    for here, there in (("h100", "mi300"), ("mi300", "h100")):
        for model in MODELS:
            yield model, here, there


def error(model, here, there, *words):
    """Of the device's busy time, predicted against recorded."""
    moved = predict(trace(model, here), "--on", DEVICES[there], *words)["scenarios"][1]
    return busy(moved) / busy(predict(trace(model, there))["scenarios"][0]) - 1


def same_time_errors():
    return [busy(predict(trace(m, a))["scenarios"][0]) / busy(predict(trace(m, b))["scenarios"][0]) - 1 for m, a, b in directions()]


def ladder_errors():
    return [error(*d) for d in directions()]


def pair(model, here, there):
    return ("--calibrate", trace(model, here) + "=" + trace(model, there))


def calibrated_errors():
    """One pair, the others predicted."""
    return [error(m, a, b, *pair(other, a, b)) for m, a, b in directions() for other in MODELS if other != m]


def two_pair_errors():
    """Two pairs, the third predicted."""
    return [error(m, a, b, *[w for other in MODELS if other != m for w in pair(other, a, b)]) for m, a, b in directions()]


def interval_cover():
    """How many of the recorded steps lie within the predicted step's interval."""
    inside = 0
    for m, a, b in directions():
        moved = predict(trace(m, a), "--on", DEVICES[b])["scenarios"][1]
        inside += moved["low_ns"] <= predict(trace(m, b))["step"]["measured_ns"] <= moved["high_ns"]
    return inside


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
    for name, errors in (("same time", same_time_errors()), ("ladder", ladder_errors()), ("one pair", calibrated_errors()),
                         ("two pairs", two_pair_errors())):
        print(f"{name:10s}", " ".join(f"{100 * e:+.1f}" for e in errors))
    print("steps within their interval:", interval_cover(), "of 6")
    return 0


if __name__ == "__main__":
    sys.exit(main())
