"""Timelines of whole jobs, as StragglerAnalysis and Primus write them. What a job did is made up here by a simulation of its own, pass by
pass, and must be found again: who sent what to whom, how long a step took, which stage holds the others up. Published ones give what
their authors say of them."""
import csv
import gzip
import io
import json
import os
import random
import re
import statistics
import tempfile

from checks import SHARED, expect, expect_line, finish, json_of, run

FORWARD, BACKWARD, LINK = 0.010, 0.020, 0.0002
COLUMNS = ["dp_rank", "stage", "rank", "step", "optype", "start_ts", "duration", "seq_id", "mc", "mb_id", "gmc"]


class Job:
    """Forward passes of all micro-batches, then the backward ones; chunks of a stage take turns. Stages work in order and wait for
    their messages; a message takes LINK from its pass's end on."""

    def __init__(self, stages, chunks, batches, slow, factor, replicas=1):
        self.stages, self.chunks, self.batches, self.replicas = stages, chunks, batches, replicas
        self.factor = [factor if stage == slow else 1.0 for stage in range(stages)]
        turns = [(chunk, first + i) for first in range(0, batches, stages) for chunk in range(chunks) for i in range(min(stages, batches - first))]
        self.order = [("forward", *turn) for turn in turns] + [("backward", chunks - 1 - chunk, batch) for chunk, batch in turns]
        self.ends, self.passes = {}, {stage: [] for stage in range(stages)}
        at, free = [0] * stages, [0.0] * stages
        while any(k < len(self.order) for k in at):
            for stage in range(stages):
                while at[stage] < len(self.order) and self.arrival(stage, *self.order[at[stage]]) is not None:
                    kind, chunk, batch = self.order[at[stage]]
                    start = max(free[stage], self.arrival(stage, kind, chunk, batch))
                    end = start + (FORWARD if kind == "forward" else BACKWARD) * self.factor[stage]
                    self.passes[stage].append((kind, chunk, batch, free[stage], start, end))
                    self.ends[kind, chunk * stages + stage, batch] = free[stage] = end
                    at[stage] += 1
        self.length = max(free)

    def peer(self, kind, place, sends):
        """The chunk of the model on the other side of a pass's message; None beyond its ends."""
        other = place + (1 if (kind == "forward") == sends else -1)
        return other if 0 <= other < self.stages * self.chunks else None

    def arrival(self, stage, kind, chunk, batch):
        place = chunk * self.stages + stage
        other = self.peer(kind, place, False)
        if other is None:
            return 0.0 if kind == "forward" else self.ends.get(("forward", place, batch))
        end = self.ends.get((kind, other, batch))
        return None if end is None else end + LINK

    def rows(self, step, idle=True):
        """`idle`: with the messages that were never launched, which the profiler notes too."""
        for replica in range(self.replicas):
            for stage in range(self.stages):
                rank, sequence = stage * self.replicas + replica, {}

                def row(kind, start, end, chunk=-1, batch=-1):
                    number = sequence[kind] = sequence.get(kind, -1) + 1
                    place = -1 if chunk < 0 else chunk * self.stages + stage
                    return [replica, stage, rank, step, kind, start, end - start, number, chunk, batch, place]

                for kind, chunk, batch, free, start, end in self.passes[stage]:
                    place = chunk * self.stages + stage
                    if self.peer(kind, place, False) is not None or idle:
                        yield row(f"{kind}-recv", free, start)
                    yield row(f"{kind}-compute", start, end, chunk, batch)
                    if self.peer(kind, place, True) is not None or idle:
                        yield row(f"{kind}-send", end, end + (LINK if self.peer(kind, place, True) is not None else 0))
                last = self.passes[stage][-1][5]
                yield row("gc", last, last)
                yield row("grads-reduce-scatter", last, self.length + 0.001)
                yield row("optimizer-clip-main-grad", self.length + 0.001, self.length + 0.002)
                yield row("optimizer", self.length + 0.002, self.length + 0.003)

    def messages(self):
        """{(from stage, to stage, direction): how many} of a step and replica."""
        counted = {}
        for stage in range(self.stages):
            for kind, chunk, *_ in self.passes[stage]:
                other = self.peer(kind, chunk * self.stages + stage, True)
                if other is not None:
                    key = stage, other % self.stages, kind
                    counted[key] = counted.get(key, 0) + 1
        return counted


def one_forward_one_backward(stages, batches, replicas, steps, took):
    """A row each of a job's operations; a pass of `took(replica, stage, batch, step)` times its usual length."""
    rows = []
    for step in range(steps):
        passes, ends = {}, {}
        for replica in range(replicas):
            turns = {}
            for stage in range(stages):
                warm = min(stages - stage, batches)
                rest = [turn for b in range(batches) for turn in [("backward", b), ("forward", b + warm)] if turn[1] < batches]
                turns[stage] = [("forward", b) for b in range(warm)] + rest
                passes[replica, stage] = []
            while any(turns.values()):
                for stage, left in turns.items():
                    kind, batch = left[0] if left else (None, None)
                    source = stage - 1 if kind == "forward" else stage + 1
                    before = (kind, replica, source, batch) if 0 <= source < stages else None if kind == "forward" else ("forward", replica, stage, batch)
                    if kind is None or (before and before not in ends):
                        continue
                    own = passes[replica, stage]
                    free = own[-1][4] if own else 0.02
                    start = max(free, ends[before] + (LINK if before[2] != stage else 0) if before else 0)
                    end = start + (FORWARD if kind == "forward" else BACKWARD) * took(replica, stage, batch, step)
                    own.append((kind, batch, free, start, end))
                    ends[(*turns[stage].pop(0)[:1], replica, stage, batch)] = end
        done = {place: own[-1][4] for place, own in passes.items()}
        synchronous = {stage: max(done[r, stage] for r in range(replicas)) + 0.01 for stage in range(stages)}
        clipped = max(synchronous.values()) + 0.01
        for (replica, stage), own in passes.items():

            def row(kind, start, end, chunk=-1, batch=-1):
                return [replica, stage, stage * replicas + replica, 3 * step, kind, start, end - start, 0, chunk, batch, chunk]

            rows.append(row("params-all-gather", 0, 0.02))
            for kind, batch, free, start, end in own:
                down = kind == "forward"
                rows += [row(kind + "-recv", free, start)] * (stage > 0 if down else stage < stages - 1)
                rows.append(row(kind + "-compute", start, end, 0, batch))
                rows += [row(kind + "-send", end, end + LINK)] * (stage < stages - 1 if down else stage > 0)
            rows += [row("grads-reduce-scatter", done[replica, stage], synchronous[stage]), row("optimizer-clip-main-grad", synchronous[stage], clipped),
                     row("optimizer", clipped, clipped + 0.005)]
    return rows


def write_table(path, rows, columns=COLUMNS):
    with (gzip.open if path.endswith(".gz") else open)(path, "wt", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)
    return path


def held(answer, job, steps):
    """The messages and the slow stage of a job."""
    slow = job.factor.index(max(job.factor))
    found = {(m["source"], m["destination"], m["group"]): m["messages"] for m in answer["point_to_point"]}
    wanted = {(a * job.replicas + r, b * job.replicas + r, kind): n * steps for (a, b, kind), n in job.messages().items() for r in range(job.replicas)}
    expect(found == wanted, "messages", found, wanted)
    expect(answer["slowest_rank"] // job.replicas == slow, "slowest", answer["slowest_rank"], slow)
    busy = {stage: sum(end - start for *_, start, end in passes) for stage, passes in job.passes.items()}
    rows = {row["rank"]: row["window"]["compute_ns"] / 1e9 / steps for row in answer["ranks"]}
    expect(all(abs(rows[stage * job.replicas] - busy[stage]) < 0.0011 for stage in busy), "compute", rows, busy)


def test_table(folder):
    for stages, chunks, batches in ((2, 1, 4), (2, 2, 4), (3, 2, 6), (4, 1, 8)):
        job = Job(stages, chunks, batches, stages - 1, 1.5, replicas=2)
        for idle in (False, True) if chunks > 1 else (False,):
            rows = [row for step in (4, 5, 9) for row in job.rows(step, idle)]
            path = write_table(os.path.join(folder, "trace.csv.gz"), rows)
            answer = json_of("analyze", path)
            held(answer, job, 3)
            expect(all(abs(step["device_ns"] / 1e9 - job.length - 0.003) < 2e-6 for step in answer["step_table"]), "steps", answer["step_table"][:2], job.length)
            lead = run("analyze", path)[1]
            expect("Give the slowest rank less" in lead and f"rank {2 * stages - 1} and 1 more" in lead or f"rank {2 * stages - 2} and 1 more" in lead, "lead", lead[:900])
            expect(("were left out" in lead) == (idle and chunks > 1), "what was left out is said", lead[:1500])
    words = [[*row[:2], *row[3:]] for row in job.rows(4, False)]  # ranks that nobody numbers are numbered by stage, then replica
    held(json_of("analyze", write_table(os.path.join(folder, "unnumbered.csv"), words, COLUMNS[:2] + COLUMNS[3:])), job, 1)


def test_doubts(folder):
    """A table that lacks the rows of a rank, and one in microseconds, whose times count as seconds."""
    job = Job(3, 1, 4, 1, 1.5, replicas=2)
    rows = list(job.rows(4, False))
    slow = [[*row[:5], 1e6 * row[5], 1e6 * row[6], *row[7:]] for row in rows]
    for name, given, wanted in (("whole", rows, None), ("a rank", [row for row in rows if row[2] != 3], "1 of 6 ranks have no operations"), ("microseconds", slow, "in the unit of this format")):
        warnings = json_of("analyze", write_table(os.path.join(folder, "doubts.csv"), given))["warnings"]
        said = [w["text"] for w in warnings if w["code"] in ("ranks_missing", "unit_doubted")]
        expect(len(said) == (wanted is not None) and all(wanted in text for text in said), name, warnings)


def test_steps_of_one_clock(folder):
    """Neighbours on one clock keep the time between them; steps that are no neighbours do not get that of those between."""
    job = Job(2, 1, 4, 1, 1.5)
    for second, kept in ((5, True), (7, False)):
        rows = list(job.rows(4, False)) + [[*r[:5], r[5] + job.length + 0.103, *r[6:]] for r in job.rows(second, False)]
        answer = json_of("analyze", write_table(os.path.join(folder, "clock.csv"), rows))
        took = answer["step_table"][1]["device_ns"] / 1e9
        expect(abs(took - job.length - 0.003 - (0.1 if kept else 0)) < 2e-6, second, took, job.length)


def test_events(folder):
    """As to_timeline.py writes them: of an exchange the transfer alone, steps apart, names of threads at the end."""
    job, events, kinds = Job(2, 1, 4, 1, 1.5, replicas=2), [], ("compute", "pp-comm", "tp-comm", "dp-comm", "misc")
    for number, step in enumerate((3, 4, 5)):
        for replica, _, rank, _, kind, start, length, sequence, chunk, batch, _ in job.rows(step, False):
            if kind.endswith("-recv"):
                start, length = start + length - LINK, LINK
            at = start + number * 1.1 * job.length
            thread = 5 * rank + (1 if kind.endswith(("-send", "-recv")) else 3 if "grad" in kind else 0)
            events.append({"name": kind, "cat": kind, "pid": replica, "tid": thread, "ts": at * 1e6, "dur": length * 1e6, "ph": "X",
                           "args": {"step": step, "model_chunk": max(chunk, 0), "mb_id": batch, "seq_id": sequence}})
    for rank in range(4):
        for i, kind in enumerate(kinds):
            events.append({"name": "thread_name", "pid": rank % 2, "tid": 5 * rank + i, "ph": "M", "args": {"name": f"PP rank {rank // 2}, TP rank 0, {kind}"}})
    path = os.path.join(folder, "timeline.json")
    with open(path, "w") as file:
        json.dump(events, file)
    answer = json_of("analyze", path)
    held(answer, job, 3)
    expect(all(abs(step["device_ns"] / 1e9 - job.length - 0.003) < 2e-6 for step in answer["step_table"]), "steps", answer["step_table"][:2])
    with open(path, "w") as file:
        json.dump([event for event in events if event["ph"] == "X"], file)
    expect_line(*run("analyze", path)[::2], 3, "timeline.json", "thread_name")


def write_logs(folder, job, iterations, settings=True):
    os.makedirs(folder, exist_ok=True)
    for stage in range(job.stages):
        log = {}
        for iteration in range(1, iterations + 1):
            own = {"total": 1e3 * (job.length + 0.003), "memory": 10.5}
            for kind, name in (("forward", "fwd"), ("backward", "bwd")):
                own[name + "_start"] = [1e3 * start for k, _, _, _, start, _ in job.passes[stage] if k == kind]
                own[name + "_end"] = [1e3 * end for k, *_, end in job.passes[stage] if k == kind]
            log[str(iteration)] = own
        with open(os.path.join(folder, f"pp_rank_{stage}.json"), "w") as file:
            json.dump(log, file)
    if settings:
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump({"world_size": job.stages, "pp_size": job.stages, "vp_size": job.chunks, "num_mbs": job.batches}, file)
    return folder


def test_logs(folder):
    for stages, chunks, batches in ((2, 1, 4), (3, 1, 6), (2, 2, 4), (4, 2, 8)):
        job = Job(stages, chunks, batches, stages - 1, 1.5)
        logs = write_logs(os.path.join(folder, f"{stages}x{chunks}"), job, 3)
        answer = json_of("analyze", logs)
        held(answer, job, 3)
        length = statistics.median(step["host_ns"] for step in answer["step_table"]) / 1e9
        expect(abs(length - job.length - 0.003) < 2e-6, "steps", length, job.length)
        for row in answer["bubbles"]:  # a stage waits or works from its first pass's message to its last pass
            passes = job.passes[row["rank"]]
            idle = passes[-1][5] - sum(end - start for *_, start, end in passes)
            shown = (row["waiting_ns"] + row["exposed_ns"]) / 1e9
            expect(abs(shown - idle) < 0.02 * job.length, "bubbles", row, idle)
        alone = json_of("analyze", os.path.join(logs, "pp_rank_1.json"))
        expect(len(alone["step_table"]) == 3 and alone["ranks"][0]["rank"] == 1, "one stage alone", alone["ranks"])
    unsaid = run("analyze", write_logs(os.path.join(folder, "unsaid"), job, 3, settings=False))
    expect(unsaid[0] == 0 and "no config.json" in unsaid[1], "a guess is said", unsaid[1][:900])
    some = run("analyze", *(os.path.join(logs, f"pp_rank_{stage}.json") for stage in (0, 1)))
    expect(some[0] == 0 and "the job has 4 ranks and 2 traces were given" in " ".join(some[1].split()), "stages without a log", some[1][:900])
    expect_line(*run("analyze", os.path.join(logs, "config.json"))[::2], 3, "pp_rank_N.json")


def test_causes(folder):
    """A slow stage, a slow worker, samples of unlike length (the three causes that StragglerAnalysis has an example of), and none."""
    noise = random.Random(7)
    length = {key: 1 + 2.4 * noise.random() ** 3 for key in ((r, b, s) for r in range(8) for b in range(8) for s in range(6))}
    for stages, replicas in ((4, 4), (1, 8)):
        slow = 1 if stages > 1 else 0
        for took, late, advice in ((lambda r, s, b, n: 1.6 if (r, s) == (2, slow) else 1, "rank 6:" if stages > 1 else "rank 2,", "See why the late rank takes longer for the same kernels"),
                                   (lambda r, s, b, n: 1.6 if s == slow else 1, "rank [4-7] and 3 more:", "Give the slowest rank less"),
                                   (lambda r, s, b, n: length[r, b, n], "", "batch by tokens"),
                                   (lambda r, s, b, n: 1, None, "Fill the bubbles")):
            if stages == 1 and (late is None or "more" in late):
                continue  # one stage is none
            path = write_table(os.path.join(folder, "causes.csv"), one_forward_one_backward(stages, 8, replicas, 6, lambda *at: took(*at) * (1 + noise.random() / 100)))
            lead = run("analyze", path)[1].split("Warning:")[0]
            expect(re.search("The others wait for " + late, lead) if late else late == "" or "The others wait" not in lead, late, lead)
            expect(advice in " ".join(lead.split()), stages, advice, lead)
            expect(("Micro-batches are of unlike length" in lead) == (late == ""), stages, lead)


def test_hostile(folder):
    """Many rows at one instant, or below one long exchange, take no longer than as many others."""
    for kind, length in (("forward-send", 0), ("forward-compute", 0), ("grads-reduce-scatter", 5), ("forward-recv", 1e-5)):
        rows = [[0, i % 2, i % 2, 0, kind if i % 7 else "forward-compute", 0.001 if length == 0 else i * 1e-9, length, i, 0, 0, 0] for i in range(200000)]
        code, _, err = run("analyze", write_table(os.path.join(folder, "hostile.csv"), rows))
        expect(code in (0, 3), kind, code, err[-500:])


def test_refusals(folder):
    job = Job(2, 1, 4, 1, 1.5)
    rows, path = list(job.rows(4, False)), os.path.join(folder, "bad.csv")

    def changed(column, value, line=5):
        worse = [row[:] for row in rows]
        worse[line - 2][COLUMNS.index(column)] = value
        return write_table(path, worse)

    for column, value, wanted in (("start_ts", "soon", "seconds"), ("duration", "-1", "0 or more"), ("stage", "0.5", "whole number"), ("optype", "", "kind"),
                                  ("start_ts", "1e300", "seconds"), ("step", "nine", "whole number")):
        expect_line(*run("analyze", changed(column, value))[::2], 3, "bad.csv:5", column, wanted)
    expect_line(*run("analyze", changed("stage", 1))[::2], 3, "rank 0", "stages")
    expect_line(*run("analyze", write_table(path, [r[:3] + r[4:] for r in rows], COLUMNS[:3] + COLUMNS[4:]))[::2], 3, "column step")
    unknown = run("analyze", changed("optype", "loss-compute-and-more"))
    expect(unknown[0] == 0 and "unknown kind" in unknown[1] and "loss-compute-and-more" in unknown[1], "a kind nobody knows is said", unknown[1][:1500])
    log = os.path.join(folder, "pp_rank_0.json")
    good = {"total": 10, "fwd_start": [0, 2], "fwd_end": [1, 3], "bwd_start": [4, 6], "bwd_end": [5, 7]}
    for change, wanted in (({"total": None}, "total"), ({"fwd_end": [1]}, "as many ends"), ({"fwd_end": [1, 1.5]}, "behind their begin"), ({"bwd_start": 4}, "list"),
                           ({"bwd_end": [5, "x"]}, "numbers"), ({"total": -3}, "total")):
        with open(log, "w") as file:
            json.dump({"1": good, "2": {**good, **change}}, file)
        expect_line(*run("analyze", log)[::2], 3, "pp_rank_0.json", "iteration 2", wanted)
    for verb in ("predict", "fleet", "slice"):
        words = ("--output", os.path.join(folder, "out.json")) if verb == "slice" else ()
        expect_line(*run(verb, changed("mc", 0), *words)[::2], 3, "timeline of a job's operations", "paceline analyze")


def test_published(folder):
    """StragglerAnalysis's ST: 'only workers on the last stage'. Primus's pp8: 3,247 ms, the first stage idle for 36.4 %."""
    kineto = os.path.join(SHARED, "kineto")
    with open(os.path.join(kineto, "straggler_ST", "result-ST.json")) as file:
        theirs = json.load(file)
    for name in ("trace-ST.csv.gz", "timeline-ST.json.gz"):
        path = os.path.join(kineto, "straggler_ST", name)
        answer, lead = json_of("analyze", path), run("analyze", path)[1]
        verdict = theirs["blocking_decompose_by_stage"]
        expect(answer["slowest_rank"] // 2 == int(max(verdict, key=verdict.get)) == 3, name, answer["slowest_rank"], verdict)
        expect("The others wait for rank" in lead and "and 1 more" in lead and "Give the slowest rank less" in lead, name, lead[:900])
        took = [abs(step["device_ns"] / 1e9 / theirs["step_t_base"][step["label"].split("#")[1]] - 1) for step in answer["step_table"]]
        expect(len(took) == 32 and statistics.median(took) < 0.002 and max(took) < 0.01, name, "their steps' times", max(took), statistics.median(took))
        parts = {row["destination"] // 2: row["messages"] for row in answer["point_to_point"]}
        expect(len(answer["point_to_point"]) == 12 and set(parts.values()) == {128}, name, "messages", parts)
    logs = os.path.join(kineto, "primus_pp8")
    answer = json_of("analyze", logs, "--rank", "0")
    table = [row for row in answer["step_table"] if int(row["label"].split("#")[1]) >= 3]
    took, idle = statistics.median(row["host_ns"] for row in table), statistics.median(1 - row["compute_ns"] / row["host_ns"] for row in table)
    expect(abs(took / 1e6 - 3247) < 3.247 and abs(idle - 0.364) < 0.001, "pp8", took, idle)
    expect("The others wait for rank 7" in run("analyze", logs)[1], "pp8 waits for its last stage, which computes the loss")


for test in (test_table, test_doubts, test_steps_of_one_clock, test_events, test_logs, test_causes, test_hostile, test_refusals, *([test_published] if os.path.exists(os.path.join(SHARED, "kineto", "straggler_ST")) else [])):
    with tempfile.TemporaryDirectory() as folder:
        test(folder)
finish()
