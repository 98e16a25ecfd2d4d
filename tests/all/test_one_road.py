"""One question has one answer by every door, to the last bit: each model of the catalogue on three machines, in every way that it
follows to share its work, in two precisions of each machine. tests/golden/test_one_road.py asks a slice of it."""
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["PACELINE_SOURCE"]) / "tests" / "golden"))
from checks import expect, finish  # noqa: E402
from doors import LIBRARY, by_c, by_options, by_python, by_rows, by_workers, can_be_workers, models, same, same_ns  # noqa: E402

PRECISIONS = {"dgx-1-v100": ("fp32", "amp"), "hgx-a100-80": ("tf32", "amp_bf16"), "dgx-h100": ("bf16", "fp8")}
SPLIT = [{"dp": 1}, {"dp": 8}, {"dp": 2, "pp": 4, "global_batch": 8}]
SHARDED = [{"dp": 4, "tp": 2}, {"dp": 2, "tp": 2, "pp": 2, "global_batch": 4}]


def product():
    for model in models():
        for machine, precisions in PRECISIONS.items():
            for precision in precisions:
                for way in SPLIT + (SHARDED if model["sequence"] else []):
                    yield model["name"], machine, {"micro_batch": 1, "precision": precision, **way}


def side_by_side(door, questions):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(door, questions))


def main():
    if not LIBRARY.exists():
        print("no shared library here: C and Python cannot be asked")
        return 77
    questions = list(product())
    with ThreadPoolExecutor() as doors:  # each that asks all in one process, beside the others
        rows, *others = [doors.submit(lambda door: list(door(questions)), door) for door in (by_rows, by_c, by_python)]
        options = side_by_side(by_options, questions)
    for asked, one, (row, status) in zip(questions, options, rows.result()):
        expect(row is None if isinstance(one, str) else row == one, "rows and options differ", asked, one, row, status)
        expect(not isinstance(one, str) or "self-check" not in one, asked, one)
    for door, answered in zip((by_c, by_python), others):
        answers = answered.result()
        expect(len(answers) == len(questions), "a door answers all questions", door.__name__, len(answers))
        for asked, one, other in zip(questions, options, answers):
            expect(same(one, other), door.__name__, "and options differ", asked, one, other)
    plain = [(asked, one) for asked, one in zip(questions, options) if can_be_workers(asked[2])]
    for (asked, one), ns in zip(plain, side_by_side(by_workers, [asked for asked, _ in plain])):
        expect(same_ns(one, ns), "workers and options differ", asked, one, ns)
    refused = sum(isinstance(one, str) for one in options)
    print(f"{len(questions)} questions, {refused} of them refused, {len(plain)} by a number of workers, too")
    expect(refused < 0.1 * len(questions), "most questions have an answer", refused)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
