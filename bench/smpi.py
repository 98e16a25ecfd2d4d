"""SimGrid's SMPI as a second opinion: the same collective on the same links, ranks joined by one switch.

Its default model bends bandwidth and latency to TCP and MPI of one cluster; all of that is set to 1 or 0, so that a
message takes latency + bytes / bandwidth and flows share links max-min fairly.
"""
import os
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

PLAIN = [
    "--cfg=network/model:CM02",
    "--cfg=network/latency-factor:1",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/weight-S:0",
    "--cfg=network/crosstraffic:0",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/wtime:0",
]

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" radical="0-%d" suffix="" speed="1Gf" bw="50GBps" lat="250ns" sharing_policy="FULLDUPLEX"/>
</platform>
"""


def here():
    return shutil.which("smpicc") and shutil.which("smpirun")


class Smpi:
    """Compiles the program once; use as a context."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.program = os.path.join(self.folder.name, "exchange")
        source = os.path.join(HERE, "smpi_exchange.c")
        subprocess.run(["smpicc", "-O2", source, "-o", self.program], check=True, capture_output=True)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def seconds(self, collective, algorithm, ranks, size):
        """How long it takes on the simulated clock. `algorithm` is SMPI's own name."""
        platform = os.path.join(self.folder.name, "platform.xml")
        with open(platform, "w", encoding="utf-8") as file:
            file.write(PLATFORM % (ranks - 1))
        kind = "bcast" if collective == "broadcast" else collective
        command = ["smpirun", "-np", str(ranks), "-platform", platform, *PLAIN, f"--cfg=smpi/{kind}:{algorithm}"]
        command += [self.program, collective, str(size)]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
        return float(result.stdout.split()[-1])
