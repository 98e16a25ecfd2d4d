"""What a recorded host does beside a faster or slower device is simulated here, launch by launch, and held against what the recording is
said to become. One that runs ahead fills the queue of its stream: from then on each launch returns when a kernel has ended, and takes as
long as one. One that pauses once a step, with nothing recorded, pauses there, not a little before each operator."""
import json
import os
import tempfile

from checks import expect, finish, run

KERNELS, STEPS, QUEUE = 4000, 3, 1022
CALL_US, OPERATOR_US, REACHES_US, BETWEEN_US = 4.0, 10.0, 6.5, 1.0


def simulate(kernel_us, kernels=KERNELS, pause_us=0.0):
    """Events of a recording, and how long its last step takes."""
    events, ends, host, device, number = [], [], 0.0, 0.0, 1
    for step in range(STEPS):
        begin, host = host, host + pause_us
        for _ in range(kernels):
            opened = host
            called = host + OPERATOR_US - CALL_US - 1
            room = ends[-QUEUE] if len(ends) >= QUEUE else 0
            returned = max(called, room) + CALL_US
            start = max(device + BETWEEN_US, returned - CALL_US + REACHES_US)
            device = start + kernel_us
            ends.append(device)
            host = returned + 1
            ids = {"correlation": number, "External id": number}
            events += [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": opened, "dur": host - opened - 0.5,
                        "args": {"External id": number}},
                       {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": called,
                        "dur": returned - called, "args": ids},
                       {"ph": "X", "cat": "kernel", "name": "ampere_sgemm_128x64_tn", "pid": 0, "tid": 7, "ts": start, "dur": kernel_us,
                        "args": {**ids, "device": 0, "stream": 7}}]
            number += 1
        called, host = host, max(host, device) + 3
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 1, "ts": called,
                       "dur": host - called - 0.2, "args": {"correlation": number}})
        number, host = number + 1, host + 1
        events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % step, "pid": 1, "tid": 1, "ts": begin,
                       "dur": host - begin - 0.5})
    return events, host - begin


with tempfile.TemporaryDirectory() as folder:
    trace, costs = os.path.join(folder, "trace.json"), os.path.join(folder, "costs.json")
    for kernel_us, kernels in ((50, KERNELS), (14, KERNELS), (14, 400)):
        events, took = simulate(kernel_us, kernels)
        json.dump({"traceEvents": events, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}]}, open(trace, "w"))
        for factor in (0.5, 0.1, 0.01):
            truth = simulate(kernel_us * factor, kernels)[1] * 1e3
            answer = json.loads(run("predict", trace, "--scale", "sgemm:%g" % factor, "-q", "-f", "json")[1])
            asked, scaled = (s["step_ns"] for s in answer["scenarios"][:2])
            expect(abs(asked / (took * 1e3) - 1) < 0.01, kernel_us, kernels, "replayed as it is", asked, took * 1e3)
            expect(abs(scaled / truth - 1) < 0.01, kernel_us, kernels, "kernels times", factor, scaled, "simulated", truth)
        run("analyze", trace, "--overheads", costs, "-q")
        calls = [row["mean_ns"] for row in json.load(open(costs))["rows"] if row["name"] == "cudaLaunchKernel"]
        expect(len(calls) == 1 and abs(calls[0] - CALL_US * 1e3) < 2, kernel_us, kernels, "a launch's own time", calls)
        document = json.loads(run("analyze", trace, "-q", "-f", "json")[1])
        free = [a["step_if_free_ns"] for a in document["advice"] if a["resource"] in ("compute", "memory") and a["at_most"] > 0.01]
        truth = simulate(0, kernels)[1] * 1e3
        if took > 1.1 * truth / 1e3:
            expect(len(free) == 1 and abs(free[0] / truth - 1) < 0.02, kernel_us, kernels, "without kernels", free, "simulated", truth)
    for pause_us in (120.0, 700.0):
        events, took = simulate(30, 100, pause_us)
        json.dump({"traceEvents": events, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}]}, open(trace, "w"))
        for factor in (0.3, 2):
            answer = json.loads(run("predict", trace, "--scale", "sgemm:%g" % factor, "-q", "-f", "json")[1])
            asked, scaled = (s["step_ns"] for s in answer["scenarios"][:2])
            truth = simulate(30 * factor, 100, pause_us)[1] * 1e3
            expect(abs(asked / (took * 1e3) - 1) < 0.01, "pause", pause_us, "replayed as it is", asked, took * 1e3)
            expect(abs(scaled / truth - 1) < 0.02, "pause", pause_us, "kernels times", factor, scaled, "simulated", truth)
    # A host that was never ahead shows no two kernels that follow each other at once; without it they do all the same, as elsewhere.
    json.dump({"traceEvents": simulate(3, 400)[0], "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}]}, open(trace, "w"))
    alone = json.loads(run("predict", trace, "--drop-overhead", "all", "-q", "-f", "json")[1])["scenarios"][1]["step_ns"]
    expect(abs(alone / (400e3 * (3 + BETWEEN_US)) - 1) < 0.1, "without the host", alone)
finish()
