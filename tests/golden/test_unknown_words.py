"""A word that names no machine and no device gives way to --on, with a note, whatever kind of rows is asked."""
import csv
import io
import os
import subprocess
import tempfile

from checks import PACELINE, expect, finish

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
# Of exchanges --on answers for all rows: also for those that name another machine, and says so; not for those that name it.
columns, cells = KINDS[2][1:]
for own, said in (("dgx-h100", True), ("dgx-a100", False), ("DGX A100", False)):
    row = ask("exchange", "system," + columns, [[own, *cells.split(",")]], "--on", "dgx-a100*2")[0]
    expect((f'took --on for "{own}"' in row["status"]) == said, own, row["status"])
finish()
