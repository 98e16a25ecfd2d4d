"""--on takes the names that tables and logs give machines, as those machines, and says so; other names stay refused."""
import json
import subprocess

from checks import PACELINE, expect, finish

EXCHANGE = ("--kind", "exchange", "--bytes", "1M")
SIMULATED = (*EXCHANGE, "--simulate", "--algorithm", "ring")
STEP = ("resnet50", "--set", "micro_batch=8")
SAME = (  # what the clouds and makers call it, what it is here
    ("p4d.24xlarge", "p4d"),
    ("p4d.24xlarge*4", "p4d*4"),
    ("p4d.24xlarge*4 net=fat-tree:2:2", "p4d*4 net=fat-tree:2:2"),
    ("P3dn.24xlarge*2", "p3dn*2"),
    ("ND96asr_v4*2", "dgx-a100*2"),
)


def ask(words, on):
    return subprocess.run([PACELINE, "predict", *words, "--on", on, "--format", "json"], capture_output=True, text=True)


def times(report):
    if "sizes" in report:
        return report["machine"], [row["time_us"] for row in report["sizes"]]
    return [row["step_ns"] for row in report["scenarios"]]


for words in (EXCHANGE, SIMULATED, STEP):
    for name, machine in SAME:
        given, meant = ask(words, name), ask(words, machine)
        expect(given.returncode == 0 and meant.returncode == 0, (words, name, given.stderr, meant.stderr))
        if given.returncode:
            continue
        expect(times(json.loads(given.stdout)) == times(json.loads(meant.stdout)), (words, name))
        expect("was read as the machine" not in meant.stdout, machine)
        taken = f'was read as the machine {machine}.'
        expect(taken in given.stdout and name.split("*")[0] in given.stdout, (words, name, given.stdout[-600:]))
    for name in ("p44d.24xlarge", "our new cluster", "*4", "=", "p4d.24xlarge*0", "p4d.24xlarge*x", "/nowhere/p4d.24xlarge.yaml", "mi300x-sxm*4 net"):
        given = ask(words, name)
        expect(given.returncode != 0 and given.stderr.count("\n") == 1 and not given.stdout, (words, name, given.returncode, given.stderr))
finish()
