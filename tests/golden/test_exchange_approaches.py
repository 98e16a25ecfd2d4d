"""One exchange by each approach of the frameworks: options and rows say the same, the columns add up, and what one overtakes is
where the times say."""
import csv
import io
import os
import tempfile

import strict_schema
from checks import expect, expect_line, finish, json_of, run

ON = "k80 nodes=16 net=100Gb/s net-latency=2us launch=10us"
NAMES = ["mpi-opt", "horovod-nccl", "mpi-default", "mpi-default:cache=1", "mpi-default:reduce=device", "grpc", "baidu-mpi", "byteps"]
PARTS = ["messages_us", "adding_us", "staging_us", "queries_us", "control_us"]


def ask(*words):
    document = json_of("predict", "--kind", "exchange", "--on", ON, *words)
    strict_schema.hold(document, "exchange_approaches")
    return document


document = ask("--approach", ",".join(NAMES), "--bytes", "4..256M")
times = {(row["approach"], row["bytes"]): row for row in document["sizes"]}
expect(len(times) == len(NAMES) * 27, len(times))
for (name, size), row in times.items():
    expect(abs(sum(row[part] for part in PARTS) / row["time_us"] - 1) < 1e-9, row)
    expect(abs(row["time_us"] / times[NAMES[0], size]["time_us"] / row["times_first"] - 1) < 1e-9, row)
    expect(row["low_us"] < row["time_us"] < row["high_us"], row)

# The queries are all that a pointer cache saves, and what one adds on the device is copied nowhere.
for size in (4, 1 << 20):
    plain, cached = times["mpi-default", size], times["mpi-default:cache=1", size]
    expect(abs(plain["time_us"] - cached["time_us"] - plain["queries_us"]) < 1e-6 and cached["queries_us"] == 0, plain, cached)
    expect(plain["staging_us"] > 0 and times["mpi-default:reduce=device", size]["staging_us"] == 0, plain)

# Where one overtakes the first, the byte before and the byte itself differ.
expect(any(c["approach"] == "mpi-default" for c in ask("--approach", "horovod-nccl,mpi-default", "--bytes", "4..256M")["crossings"]), "no crossing")
for crossing in ask("--approach", "horovod-nccl,mpi-default", "--bytes", "4..256M")["crossings"]:
    below, above = (ask("--approach", f"horovod-nccl,{crossing['approach']}", "--bytes", str(crossing["from_bytes"] - d))["sizes"][1]["times_first"] for d in (1, 0))
    expect((above > 1) == (crossing["becomes"] == "slower") and (below > 1) != (above > 1), crossing, below, above)

# By rows: the same numbers, with or without a column of collectives; what cannot be answered says why.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "rows.csv")
    with open(path, "w") as file:
        table = csv.writer(file)
        table.writerow(["system", "approach", "nodes", "gpus", "bytes"])
        for name in NAMES:
            table.writerows([ON, name, 16, 16, size] for size in (4, 65536, 1 << 26))
        table.writerow([ON, "Horovod (NCCL)", 16, 16, 4])
        table.writerow(["ethernet-10g*16", "grpc+verbs", 16, 16, 4])
        table.writerow([ON, "carrier pigeon", 16, 16, 4])
    code, out, err = run("predict", "--rows", path)
    rows = list(csv.DictReader(io.StringIO(out)))
    for row in rows[:-3]:
        expect(abs(float(row["predicted"]) * 1e6 / times[row["approach"], int(row["bytes"])]["time_us"] - 1) < 1e-12, row)
    expect(rows[-3]["predicted"] == rows[3]["predicted"], rows[-3], rows[3])
    expect("tcp" in rows[-2]["status"] and "infiniband" in rows[-2]["status"], rows[-2])
    expect("unknown approach" in rows[-1]["status"], rows[-1])

for words, wanted in ((("--library", "nccl"), "library"), (("--algorithm", "ring"), "algorithm"), (("--collective", "alltoall"), "allreduce")):
    code, out, err = run("predict", "--kind", "exchange", "--approach", "mpi-opt", "--on", ON, *words)
    expect_line(code, err, 2, wanted)
code, out, err = run("predict", "--kind", "exchange", "--approach", "horovod-nccl", "--on", "piz-daint*16")
expect_line(code, err, 2, "aries")
page = run("predict", "--kind", "exchange", "--approach", "mpi-opt,horovod-nccl", "--on", ON, "-f", "html")[1]
expect(page.count("<polyline") == 2, page.count("<polyline"))
finish()
