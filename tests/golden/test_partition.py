"""Networks on hosts: the equations of docs/partition.md worked out again from the catalogue's constants, `plan` against `predict`,
what cannot be, and constants measured here."""
import json

import os
import sys
import tempfile
from pathlib import Path

import yaml

from checks import expect, finish, run as run_program

SOURCE = Path(os.environ["PACELINE_SOURCE"])
HOSTS = "epyc-zen5-2t*{} net=10Gb/s net-latency=50us"
LAYERS = [784, 500, 300, 10]
MODEL = "family: mlp\nabout: a test\nsource: a test\ninputs: {image: {features: 784}}\nloss: cross_entropy\nlayers:\n" + "".join(
    f"  - linear: {n}\n  - tanh\n" for n in LAYERS[1:-1]) + f"  - linear: {LAYERS[-1]}\n"


def ask(verb, model, *words, machines=8):
    code, out, err = run_program(verb, model, "--on", HOSTS.format(machines), *words, "-f", "json", "-q")
    return code, json.loads(out) if out else None, err


def settings(**fields):
    return [word for key, value in fields.items() for word in ("--set", f"{key}={value}")]


def constants():
    return yaml.safe_load((SOURCE / "catalog" / "hosts.yaml").read_text())["hosts"][0]


def price(host, key, size, threads):
    """Of the least measured size that holds the weights; larger ones are never cheaper."""
    sizes = host["weights"]
    last = next((i for i, one in enumerate(sizes) if one["bytes"] >= size), len(sizes) - 1)
    of = [max(one[key][t] for one in sizes[: last + 1]) for t in range(len(host["threads"]))]
    return of[0] if threads == 1 else of[1] + max(0, of[1] - of[0]) * (threads - 2)


def test_equations(model):
    """dp=2 tp=2 threads=2 servers=1, two segments of each layer, in async mode."""
    host, dp, tp, threads, batch = constants(), 2, 2, 2, 64
    _, answer, err = ask("predict", model, *settings(dp=dp, tp=tp, threads=threads, servers=1, segments=2, global_batch=batch))
    row, latency, rate = answer["configurations"][0], host["message_s"] + 50e-6, None
    parts = answer["parts"][0]
    weights = [(a + 1) * b for a, b in zip(LAYERS, LAYERS[1:])]  # with a bias each
    pairs = [a * b for a, b in zip(LAYERS, LAYERS[1:])]
    held = sum(4 * w / tp for w in weights)
    add, update = (price(host, key, held, threads) for key in ("multiply_add_s", "update_s"))
    neurons, act = LAYERS[1:], host["activation_s"]
    work = sum(c / tp * (add + update) + 2 * n / tp * act for c, n in zip(pairs, neurons)) + sum(c / tp * add for c in pairs[1:])
    expect(abs((parts["compute_ns"] + parts["contention_ns"]) / (1e9 * work / (dp * threads)) - 1) < 1e-3, "work", parts, work)
    # Half of each layer's activations and errors come from the other worker.
    messages = 2 * (len(neurons) - 1) * latency * 1e9 / (dp * threads)
    values = 4 * threads * sum(neurons[:-1] + neurons[1:]) / 2
    rate = values / ((parts["traffic_ns"] - messages) * 1e-9 * dp * threads)
    expect(0.5e9 < rate <= 1.25e9, "10 Gb/s, as far as large messages reach them", rate)
    k = batch / dp
    sent = sum(4 * (min(w, k * (a + b)) + w) / tp for w, a, b in zip(weights, LAYERS, LAYERS[1:]))
    exchange = (2 * latency + max(sent, dp * sent * tp) / rate) / batch
    busy = (parts["compute_ns"] + parts["contention_ns"] + parts["traffic_ns"]) / 1e9
    expect(abs(row["sample_s"] / max(busy, exchange) - 1) < 2e-3, "async", row["sample_s"], busy, exchange)
    _, sync, _ = ask("predict", model, *settings(dp=dp, tp=tp, threads=threads, servers=1, segments=2, global_batch=batch,
                                                 exchange="sync"))
    jitter = yaml.safe_load((SOURCE / "catalog" / "hosts.yaml").read_text())["jitter"]
    wait = busy * jitter * 0.5894557978497785  # Blom's score of the larger of two
    expect(abs(sync["configurations"][0]["sample_s"] / (busy + exchange + wait) - 1) < 2e-3, "sync", sync["configurations"], wait)


def test_plan_is_predict(model):
    for name in (model, "lenet"):
        _, answer, err = ask("plan", name, "--set", "global_batch=128", "--top", "6")
        times = [row["sample_s"] for row in answer["configurations"]]
        expect(len(times) == 6 and times == sorted(times), "in order", times, err)
        for row in answer["configurations"]:
            fields = {key: row[key] for key in ("dp", "tp", "threads", "servers", "segments")}
            code, one, err = ask("predict", name, *settings(global_batch=128, **fields))
            expect(code == 0 and one["configurations"][0]["sample_s"] == row["sample_s"], "predict's time", row, err)
            expect(row["machines"] == row["dp"] * row["tp"] + row["servers"] <= 8, "machines", row)
        for row, parts in zip(answer["configurations"], answer["parts"]):
            total = sum(value for key, value in parts.items() if key.endswith("_ns") and key != "hidden_ns")
            expect(abs(total - row["sample_ns"]) <= 5, "parts add up", parts, row)
        front = answer["front"]
        expect(all(a["machines"] < b["machines"] and a["sample_ns"] > b["sample_ns"] for a, b in zip(front, front[1:])), "front", front)


def test_directions(model):
    """A faster network, more machines, fewer waits: never slower. Staleness lies between."""
    def best(*words, machines=8, on=None):
        return ask("plan", model, "--set", "global_batch=128", *words, machines=machines)[1]["configurations"][0]["sample_s"]

    by_machines = [best(machines=n) for n in (1, 2, 4, 8, 16)]
    expect(by_machines == sorted(by_machines, reverse=True), "more machines", by_machines)
    fixed = settings(dp=4, servers=2, threads=2)
    waits = [best(*fixed, *settings(exchange="sync")), best(*fixed, *settings(exchange="stale", staleness=3)), best(*fixed)]
    expect(waits == sorted(waits, reverse=True), "sync, stale, async", waits)
    busy = [best(*settings(dp=4, threads=1, servers=n, exchange="sync")) for n in (1, 2, 4)]
    expect(busy == sorted(busy, reverse=True), "more servers", busy)


def test_epoch(model):
    _, answer, err = ask("plan", model, "--tokens", "60000", "--price", "0.5", "--within", "1h")
    row = answer["configurations"][0]
    days = 60000 * row["sample_s"] / 86400
    expect(abs(row["days"] / days - 1) < 1e-9 and abs(row["price"] / (days * 24 * row["machines"] * 0.5) - 1) < 1e-9, "price", row, days)
    expect(any(s.startswith("The fewest machines") for s in answer["summary"]), "within", answer["summary"])
    code, answer, _ = ask("plan", model, "--tokens", "1T", "--within", "1h")
    expect(code == 1 and any("No number of machines" in s for s in answer["summary"]), "not within", code, answer["summary"])


def test_model_only(model):
    _, answer, _ = ask("predict", model, *settings(threads=8))
    expect(answer["configurations"][0]["threads_are"] == "model only" and "extrapolated" in [one["code"] for one in answer["warnings"]], "model only", answer)
    _, answer, _ = ask("predict", model, *settings(threads=2))
    expect(answer["configurations"][0]["threads_are"] == "measured", "measured", answer["configurations"])


def test_no(model, folder):
    for verb, name, words, machines, reason in (
            ("plan", "resnet50", [], 4, "only a chain"),
            ("plan", "gpt2", [], 4, "only a chain"),
            ("plan", model, settings(pp=2), 4, "no effect on hosts"),
            ("plan", model, settings(threds=2), 4, "threds"),
            ("plan", model, settings(exchange="never"), 4, "async, sync, stale"),
            ("plan", model, settings(staleness=2), 4, "no effect without exchange=stale"),
            ("plan", model, settings(exchange="stale"), 4, "needs staleness"),
            ("plan", model, settings(segments="2/2"), 4, "one for each of 3 layers"),
            ("predict", model, settings(segments=2), 4, "each has a worker of its own"),
            ("predict", model, settings(dp=4, tp=2), 8, "machines, of which there are 8"),
            ("predict", model, settings(dp=2, servers=0), 8, "exchange weights through at least 1"),
            ("predict", model, settings(servers=1), 8, "no use for servers"),
            ("predict", "lenet", settings(tp=2, segments="2/1/1/1"), 8, "share filters"),
            ("predict", model, settings(dp=200, global_batch=100), 400, "at most one each")):
        code, _, err = ask(verb, name, *words, machines=machines)
        expect(code == 2 and reason in err and err.count("\n") == 1, "refused", verb, words, code, err)
    small = folder / "small.yaml"
    small.write_text(json.dumps({"hosts": [{**constants(), "name": "small", "memory_bytes": 1e6}]}))
    code, _, err = run_program("predict", model, "--on", str(small), "-q")
    expect(code == 2 and "memory" in err, "memory", code, err)
    for on, status, reason in (("epyc-zen5-2t*4", 2, "nothing joins"), ("epyc-zen5-2t*0", 4, ""), ("epyc-zen5-2t*4 ib=3", 2, "")):
        code, _, err = run_program("plan", model, "--on", on, "-q")
        expect(code in (status, 2) and reason in err and err.count("\n") == 1, "hosts", on, code, err)
    code, _, err = run_program("plan", model, "--on", "epyc-zen5-2t", "--on", "dgx-h100", "-q")
    expect(code == 2 and "either hosts or machines" in err, "both", err)
    for fault, reason in (({"threads": [2, 1]}, "ascend from 1"), ({"weights": []}, "weights"), ({"cores": -1}, "cores"),
                          ({"activation_s": 0}, "activation_s")):
        small.write_text(json.dumps({"hosts": [{**constants(), **fault}]}))
        code, _, err = run_program("plan", model, "--on", str(small), "-q")
        expect(code == 3 and reason in err and "small.yaml" in err, "file", fault, code, err)


def test_measured_here(model, folder):
    """A file of `calibrate neurons` is taken; its grid is cut down, so that this takes a second."""
    catalog = folder / "catalog"
    catalog.mkdir()
    sweeps = yaml.safe_load((SOURCE / "catalog" / "sweeps.yaml").read_text())
    sweeps["neurons"] = {"threads": [1, 2], "bytes": [16384, 1048576], "messages": [1, 65536]}
    sweeps["budgets"]["quick"]["point_s"] = 0.01
    for file in (SOURCE / "catalog").glob("*.yaml"):
        (catalog / file.name).write_text(file.read_text())
    (catalog / "sweeps.yaml").write_text(json.dumps(sweeps))
    box = folder / "box.yaml"
    os.environ["PACELINE_CATALOG"] = str(catalog)
    code, out, err = run_program("calibrate", "neurons", "--quick", "--name", "box", "-e", str(box), "-f", "json")
    code_idle, _, idle = run_program("calibrate", "neurons", "--family", "gemm")
    del os.environ["PACELINE_CATALOG"]
    expect(code == 0, "calibrate", err)
    expect(code_idle == 2 and "no effect on neurons" in idle, "family", idle)
    host = yaml.safe_load(box.read_text())["hosts"][0]
    expect(host["name"] == "box" and all(1e-12 < t < 1e-6 for one in host["weights"] for t in one["multiply_add_s"] + one["update_s"]),
           "times", host)
    expect(1e-7 < host["message_s"] < 1 and 1e6 < host["message_bytes_per_s"] < 1e12, "messages", host)
    code, out, err = run_program("plan", model, "--on", f"{box}*4 net=1Gb/s", "-f", "json", "-q")
    expect(code == 0 and json.loads(out)["configurations"][0]["machine"] == "box*4", "plan", err)


with tempfile.TemporaryDirectory() as name:
    where = Path(name)
    (where / "mlp.yaml").write_text(MODEL)
    mlp = str(where / "mlp.yaml")
    test_equations(mlp)
    test_plan_is_predict(mlp)
    test_directions(mlp)
    test_epoch(mlp)
    test_model_only(mlp)
    test_no(mlp, where)
    test_measured_here(mlp, where)
sys.exit(finish())
