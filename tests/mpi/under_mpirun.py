"""Programs under mpirun, for the tests of this folder."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["PACELINE_SOURCE"], "tests", "golden"))
from checks import expect, finish  # noqa: E402, F401: for those that import this

BUILD = os.environ["PACELINE_BUILD"]
EVERYTHING = os.environ.get("COLLECTIVE") == "all"
LIBRARY = os.path.join(BUILD, "collective", "libpaceline_collective.so")
# MPI's libraries keep what they allocate until the end.
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:verify_asan_link_order=0")

if not shutil.which("mpirun") or not os.path.exists(LIBRARY):
    print("no mpirun, or no libpaceline_collective")
    sys.exit(77)


def program(name):
    return os.path.join(BUILD, "tests", name)


def on_hosts(layout, *words, timeout=300, **environment):
    """The same where so many ranks each think that they are on a host of their own."""
    parts = []
    for number, ranks in enumerate(layout):
        parts += [":"] * bool(parts) + ["-n", str(ranks), "-x", f"PACELINE_HOST=host{number}", *words]
    done = subprocess.run(["mpirun", "--oversubscribe", *parts], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=timeout, env=dict(ENV, **environment), check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def mpirun(ranks, *words, timeout=300, **environment):
    """Exit status and output, both streams together."""
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=timeout, env=dict(ENV, **environment))
    return done.returncode, done.stdout.decode("utf-8", "replace")
