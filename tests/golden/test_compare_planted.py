"""What `compare` says of a plain step beside the same step with one change: the resource, and by name what stands behind it.
The expected answers were written before the program's were seen.
"""
import json
import os
import sys
import tempfile

from checks import expect, finish, run
from leads import planted

PAIRS = [  # before, after, resource of the cause, what the summary names
    ("plain*1", "averages_weights*1", "idle_host", "aten::lerp_"),
    ("plain*1", "collects_each_step*1", "idle_host", "Python GC"),
    ("plain*1", "samples_indices*1", "idle_input", "aten::multinomial"),
    ("plain*1", "roots_on_host*1", "idle_host", "aten::linalg_eigh"),
    ("plain*1", "losses_on_host*1", "idle_host", "aten::_ctc_loss"),
    ("plain*1", "snapshots_weights*1", "copy", "Memcpy DtoH"),
    ("plain*1", "resizes_on_device*1", "memory_bound", "upsample_bilinear2d"),
    ("plain*1", "futures_feed*1", "idle_input", "next_batch"),
    ("plain*1", "plain_slow_clocks*1", "compute_bound", "ampere_bf16"),
    ("plain*2", "plain_slow_link*2", "exposed_communication", "AllReduce"),
    ("plain*2", "plain_slow_device*2", "compute_bound", "rank 1"),
    ("averages_weights*1", "plain*1", "idle_host", "aten::lerp_"),
    ("snapshots_weights*1", "plain*1", "copy", "Memcpy DtoH"),
    ("plain_slow_link*2", "plain*2", "exposed_communication", "AllReduce"),
]


def side(recording, folder):
    os.makedirs(folder)
    paths = planted(recording, folder)
    return paths[0] if len(paths) == 1 else os.path.dirname(paths[0])


right = 0
for before, after, resource, name in PAIRS:
    with tempfile.TemporaryDirectory() as scratch:
        code, out, err = run("compare", side(before, scratch + "/a"), side(after, scratch + "/b"), "--format", "json")
    expect(code == 0, before, after, code, err)
    answer = json.loads(out)
    found = (answer.get("cause") or {}).get("resource")
    said = " ".join(answer["summary"])
    right += found == resource and name in said
    expect(found == resource and name in said, before, after, "expected", resource, name, "found", found, said)
print(right, "of", len(PAIRS), "changes are said with their cause")
sys.exit(finish())
