"""Logs of exchanges in the forms that people have: pasted, with units, of other benchmarks, as records."""
import json
import sys

from checks import expect, finish, run
from exchange_logs import SIZES, fits_and_answers, law, nccl_text, put


def benchmark(ranks, head, processes, columns):
    """Sections of Intel's MPI benchmarks and of oneCCL's: an all-gather says the size of one rank's part."""
    lines = [head]
    for name, parts in (("allreduce", 1), ("allgather", ranks), ("Barrier", 1)):
        lines += ["#----", f"# Benchmarking{':' if 'oneCCL' in head else ''} {name}", processes.format(ranks), "#----", "", columns]
        between = columns.split().index("t_avg[usec]") - 1
        lines += [f"{size // parts:12} " + "1 " * between + f"{law(ranks, size):.3f} 0.1" for size in SIZES[3:]]
    return "\n".join(lines + ["", "# All done"]) + "\n"


bare = "\n".join(line.replace("#", "", 1) if line.startswith("#") else line for line in nccl_text(8).split("\n"))  # as pages show a pasted log
fits_and_answers(put("all_reduce_8.log", bare))
pieces = "\n".join("[0]" + line.replace(" -1 ", " -1[0] ") for line in nccl_text(8).split("\n"))  # as mpirun -l marks each write
fits_and_answers(put("all_reduce_8.log", pieces))
short = [line for line in nccl_text(8).split("\n") if "(B)" not in line]
short = [" ".join(line.split()[:8]) if line[:1] == " " else line for line in short]  # one buffer, and units in the header
fits_and_answers(put("all_reduce_8.log", "\n".join(short).replace("size         count ", "size(B) count(elems) ").replace(" time ", " time(us) ", 1)))
for passes, named in ((2, "allreduce"), (1, "reducescatter")):  # sums are told by their bus bandwidth
    code, out, err = run("fit", "--kind", "exchange", put("run.log", nccl_text(8, passes=passes)), "-f", "json")
    expect(code == 0 and json.loads(out)["curves"][0]["collective"] == named, passes, out[:300], err)
for head, processes, columns in (("# Intel(R) MPI Benchmarks 2021.3, MPI-1 part", "# #processes = {}", "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]"),
                                 ("# oneCCL", "# #processes: {}", "#bytes #elem_count #repetitions t_min[usec] t_max[usec] t_avg[usec] stddev[%]")):
    log = put("benchmark.txt", benchmark(8, head, processes, columns))
    fits_and_answers(log, "--on", "dgx-a100")
    curves = json.loads(run("fit", "--kind", "exchange", log, "-f", "json")[1])["curves"]
    expect([(c["collective"], c["ranks"], c["sizes"]) for c in curves] == [("allreduce", 8, len(SIZES) - 3), ("allgather", 8, len(SIZES) - 3)], curves)
# rccl-tests write their rows as a list of records (-Z json) or as CSV; what came out wrong is left out.
records = [{"numCycle": 0, "name": "AllReduce", "nodes": 1, "ranks": 8, "ranksPerNode": 8, "size": s, "type": "float", "inPlace": 0, "time": law(8, s), "wrong": "0"} for s in SIZES]
fits_and_answers(put("rccl.json", json.dumps(records)))
records[-1]["wrong"] = "7"
for name, text in (("rccl.json", json.dumps(records)), ("rccl.csv", "\n".join(",".join(str(cell) for cell in row) for row in [records[0]] + [r.values() for r in records]))):
    code, out, err = run("fit", "--kind", "exchange", put(name, text), "-f", "json")
    expect(code == 0 and json.loads(out)["curves"][0]["sizes"] == len(SIZES) - 1 and "wrong in 7 elements" in err, name, err)
sys.exit(finish())
