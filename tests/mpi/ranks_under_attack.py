"""Ranks of `paceline train` as other programs see them: found by their command line, waited for by what they do."""
import os
import time

PATIENCE_S = 90


def command_lines():
    for each in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{each}/cmdline", encoding="utf-8") as file:
                yield int(each), file.read().split("\0")
        except OSError:
            continue  # it has ended


def await_that(what, found, running):
    """What found() returns as soon as it is true."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and running.poll() is None:
        result = found()
        if result:
            return result
        time.sleep(0.02)
    raise SystemExit(f"waited for {what}: {running.communicate()}")


def has_module(process, module):
    try:
        with open(f"/proc/{process}/maps", encoding="utf-8") as file:
            return f"paceline-train-{module}.so" in file.read()
    except OSError:
        return False


def await_ranks(running, words, module, count=2):
    """The ranks that this command started, once each has loaded the module of its approach."""

    def found():
        all_of = sorted(number for number, said in command_lines() if said[:1 + len(words)] == [os.environ["PACELINE"], *words])
        ranks = [number for number in all_of if number != running.pid and has_module(number, module)]
        return ranks if len(ranks) == count else None

    return await_that("ranks", found, running)


def switches_of(process):
    total = 0
    try:
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/status", encoding="utf-8") as file:
                total += int(next(line for line in file if line.startswith("voluntary_ctxt_switches")).split()[1])
    except (OSError, StopIteration):
        pass  # a thread has ended
    return total


def await_switches(ranks, count):
    """Until each has waited for something so many times more: threads that exchange do so in every step."""
    before = {rank: switches_of(rank) for rank in ranks}
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and any(switches_of(rank) < before[rank] + count for rank in ranks):
        time.sleep(0.02)
