"""A word that names no machine and no device gives way to --on, with a note, whatever kind of rows is asked."""
import csv
import io
import os
import subprocess
import tempfile

from checks import PACELINE, expect, finish, run

FOLDER = tempfile.mkdtemp(prefix="paceline-unknown-words-")
ON = "v100-sxm2-16*1 nodes=2 net=20Gb/s"
WORDS = ("VM", "VM 1xV100/node, 20 Gb/s TCP (iperf 13.7 one stream)", "our new cluster")
KINDS = (
    ("scaling", "method,model,batch,gpus", "horovod,resnet50,32,2"),
    ("step", "model,batch,gpus", "gpt2,8,2"),
    ("exchange", "collective,nodes,gpus,bytes", "all_reduce,2,2,1048576"),
)


def ask(kind, header, lines, *how):
    path = os.path.join(FOLDER, "rows.csv")
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(lines)
    done = subprocess.run([PACELINE, "predict", "--kind", kind, "--rows", path, "--format", "csv", *how], capture_output=True, text=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


for kind, columns, cells in KINDS:
    silent = ask(kind, columns, [cells.split(",")], "--on", ON)[0]
    expect(float(silent["predicted"]) > 0, silent)
    for row, word in zip(ask(kind, "system," + columns, [[w, *cells.split(",")] for w in WORDS], "--on", ON), WORDS):
        expect(row["predicted"] == silent["predicted"], (kind, row, silent))
        expect(row["system"] == word, row)
        expect(f'took --on for "{word[:35]}' in row["status"], row)
    for row in ask(kind, "system," + columns, [["our new cluster", *cells.split(",")]]):
        expect(row["predicted"] == "" and row["status"] != "ok", row)
# Rows that name another known machine are asked of that one, as without --on; a device's name does not tell the network.
columns, cells = KINDS[2][1:]
for own, on, alone in (("dgx-h100", "dgx-a100*2", True), ("p3dn.24xlarge", "dgx-a100*2", True), ("DGX A100", "dgx-a100*2", True),
                       ("h100_sxm", "dgx-a100*2", False), ("v100-sxm2", "v100-sxm2-16*4 nvlink=100GB/s net=10Gb/s", False)):
    lines = [[own, *cells.split(",")]]
    row, = ask("exchange", "system," + columns, lines, "--on", on)
    want, = ask("exchange", "system," + columns, lines) if alone else ask("exchange", columns, [cells.split(",")], "--on", on)
    expect(float(row["predicted"]) > 0 and row["predicted"] == want["predicted"], own, row, want)
    expect((f'took --on for "{own}"' in row["status"]) == (not alone), own, row["status"])
# Nodes that no column counts are the row's machine's: 32 devices are two nodes of a DGX-2, not four of eight.
two, guessed = ask("exchange", "system,collective,nodes,gpus,bytes", [["dgx-2", "all_reduce", "2", 32, "1M"], ["dgx-2", "all_reduce", "", 32, "1M"]],
                   "--on", "dgx-a100*2")
expect(two["predicted"] == guessed["predicted"], two, guessed)
# A machine's name in a column of devices is that machine's device, as in a column of machines: DGX A100 has the 40 GB part.
for name in ("dgx-a100", "DGX A100", "p4d.24xlarge", "dgx-1-v100", "DGX H100"):
    one, = ask("step", "device,model,gpus,micro_batch,framework", [[name, "resnet50", 8, 64, "pytorch"]])
    other, = ask("step", "machine,model,gpus,micro_batch,framework", [[name, "resnet50", 8, 64, "pytorch"]])
    expect(float(one["predicted"]) > 0 and one["predicted"] == other["predicted"], name, one, other)
for words, said in ((("--json",), "--format json"), (("--csv",), "--format csv"), (("-fjson",), "--format json"), (("-qf", "json"), "behind -q"), (("-o/tmp/x",), "behind -o"),
                    (("--top", "-1"), "from 0 to 1e18"), (("--rank", "9" * 20), "from 0 to 1e18")):
    code, _, err = run("analyze", "trace.json", *words)
    expect(code == 2 and said in err and err.count("\n") == 1, words, code, err)
finish()
