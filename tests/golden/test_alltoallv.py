"""An alltoallv is answered as an alltoall of equal pieces, and the answer says so; an alltoall's says nothing of it."""
import json
import subprocess

from checks import PACELINE, expect, finish

NOTE = "alltoallv is assumed to send equal pieces"


def ask(*words):
    done = subprocess.run([PACELINE, "predict", "--kind", "exchange", "--bytes", "1M,64M", "--on", "dgx-h100*2", "--format", "json", *words], capture_output=True, text=True)
    expect(done.returncode == 0, (words, done.stderr))
    return done.stdout, [row["time_us"] for row in json.loads(done.stdout)["sizes"]]


for how in ((), ("--simulate",)):
    even, times = ask("--collective", "alltoall", *how)
    expect(NOTE not in even and NOTE not in ask(*how)[0], how)
    for name in ("alltoallv", "all_to_all_v", "AllToAllv", "ncclAllToAllv"):
        told, same = ask("--collective", name, *how)
        expect(NOTE in told and same == times, (name, how))
finish()
