"""An exchange is fitted on the nodes where it is asked: rows that tell ranks and no nodes answer for whole nodes of their machine, at every door."""
import csv
import io
import json
import os
import tempfile

from checks import expect, finish, run  # noqa: E402

FOLDER = tempfile.mkdtemp()
SIZES = [2**k for k in range(10, 31, 2)]


def time_us(nodes, size):
    return 200 * nodes + size / 1e4 * (1 + nodes)


def fit(system, counts, *words, nodes=False):
    path, fitted = os.path.join(FOLDER, "rows.csv"), os.path.join(FOLDER, "fit.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write("system,collective,gpus,bytes,time_us" + (",nodes" if nodes else "") + "\n")
        for n in counts:
            for size in SIZES:
                file.write(f"{system},allreduce,{8 * n},{size},{time_us(n, size)}" + (f",{n}" if nodes else "") + "\n")
    code, out, err = run("fit", "--kind", "exchange", path, "-o", fitted, "-f", "json", *words)
    expect(code == 0, system, code, err)
    return path, fitted, [one["nodes"] for one in json.loads(out)["curves"]]


def by_options(fitted, nodes):
    code, out, err = run("predict", "--collective", "allreduce", "--bytes", "1MiB", "--on", f"dgx-a100*{nodes}", "--fit", fitted, "-f", "json")
    expect(code == 0, nodes, code, err)
    answer = json.loads(out)
    expect(answer["inputs"] == [{"path": fitted, "bytes": os.path.getsize(fitted)}], "the fit as an input", answer["inputs"])
    return answer


def test_whole_nodes():
    for system, words, nodes in (("dgx-a100", (), False), ("dgx-a100*4", (), False), ("somewhere", ("--on", "dgx-a100"), False), ("dgx-a100", (), True), ("dgx-a100", ("--on", "dgx-h100"), False)):
        path, fitted, curves = fit(system, (1, 2, 4), *words, nodes=nodes)
        expect(curves == [1, 2, 4], "nodes of the curves", system, words, curves)
        _, out, _ = run("predict", "--rows", path, "--kind", "exchange", "--fit", fitted, "-q", *words)
        for row in csv.DictReader(io.StringIO(out)):
            expect(abs(float(row["predicted"]) / float(row["time_us"]) - 1) < 1e-9, "its own rows", system, words, row)
        for n in (1, 2, 4):
            answer = by_options(fitted, n)
            expect(abs(answer["sizes"][0]["time_us"] / time_us(n, 2**20) - 1) < 1e-9, "the curve of these nodes", system, n, answer["sizes"])
            expect(answer["sizes"][0]["algorithm"] == "measured" and not answer.get("warnings"), "measured", n, answer["sizes"])


def test_other_nodes():
    """Beyond the measured nodes the answer says so, and its interval is wider."""
    _, fitted, _ = fit("dgx-a100", (1, 4))
    one, two = (by_options(fitted, n)["sizes"][0] for n in (1, 2))
    expect(two["algorithm"] == "extrapolated" and two["high_us"] / two["low_us"] > 1.2 * one["high_us"] / one["low_us"], "no curve of two nodes", one, two)
    expect([w["code"] for w in by_options(fitted, 2)["warnings"]] == ["extrapolated"], "said")


test_whole_nodes()
test_other_nodes()
finish()
