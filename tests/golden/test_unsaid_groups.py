"""Who exchanges with whom is found in exports that do not say: as the same run's traces, which name the members, have it."""
import json
import re
import sys
import tempfile

from checks import expect, finish, run
from leads import planted


def figures(recording):
    with tempfile.TemporaryDirectory() as folder:
        _, out, _ = run("analyze", "--format", "json", "--check", *planted(recording, folder))
    return json.loads(out)


def waits(document):
    return sum(row["idle_rank_ns"] for row in document["matrix"].values())


def check_same(name):
    said, unsaid = figures(name), figures(name + "@nsys")
    step = said["critical_path"]["length_ns"]
    expect(abs(waits(said) - waits(unsaid)) <= step // 100, name, "waiting", waits(said), waits(unsaid), "of", step)
    for one, other in zip(said["balance"], unsaid["balance"]):  # ranks that are not reported wait as long, too
        expect(abs(one["waiting_ns"] - other["waiting_ns"]) <= step // 20, name, "waiting of a rank", one, other)
    expect(said["lead"]["resource"] == unsaid["lead"]["resource"], name, said["lead"], unsaid["lead"])


def check_unknown():
    document = figures("cube_slow_split*16@apart")
    expect(document["lead"]["evidence"] == "groups", "evidence", document["lead"])
    expect(not document["remedies"], "no remedy is promised", document["remedies"])


def check_shares():
    """Ranks hold several exchanges open at once: what they wait in sum is no share of the time."""
    said = " ".join(figures("slow_stage*8@nsys")["summary"])
    shares = [float(share) for share in re.findall(r"([0-9.]+) % of the time", said)]
    expect(all(share <= 100 for share in shares), "more than all of the time", shares, said)


for program in ("cube_slow_device*16", "cube_slow_split*16", "cube_slow_replicas*16", "hybrid_shards*8"):
    check_same(program)
check_unknown()
check_shares()
sys.exit(finish())
