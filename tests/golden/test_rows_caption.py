"""`predict --rows --set COLUMN=VALUE`: what a caption above a table says is a column, which a cell of the row's own goes before, in
whatever words its column is named."""
import csv
import os
import subprocess
import tempfile

PACELINE = os.environ["PACELINE"]


def run(text, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(text)
        file.flush()
        return subprocess.run([PACELINE, "predict", "--kind", "step", "--rows", file.name, "--format", "csv", *words], capture_output=True, text=True)


def ask(text, *words):
    done = run(text, *words)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines()))


def test_what_a_caption_says():
    head, rows = "model,gpu,num_gpus,tp,pp,Micro Batch Size,gbs", ("llama3-8b,h100,8,1,1,1,64", "llama3-70b,h100,64,4,4,1,128")
    plain = ask(f"{head},precision\n" + "".join(f"{row},fp8\n" for row in rows))
    said = ask(f"{head}\n" + "".join(f"{row}\n" for row in rows), "--set", "precision=fp8")
    assert [row["predicted"] for row in plain] == [row["predicted"] for row in said], (plain, said)
    empty = ask(f"{head},dtype\n{rows[0]},\n{rows[0]},bf16\n", "--set", "precision=fp8")
    assert empty[0]["predicted"] == plain[0]["predicted"] and empty[0]["dtype"] == "fp8" and "precision" not in empty[0], empty
    assert empty[1]["dtype"] == "bf16" and float(empty[1]["predicted"]) > float(empty[0]["predicted"]), empty
    for words, reason in ((("precison=fp8",), "precison has no effect"), (("precision",), "expected a column and its value"),
                          (("precision=fp8", "Precision=bf16"), "set twice"), (("dtype=fp8", "num_gpus=8"), "num_gpus has no effect"), (("dtype=fp8",), "")):
        done = run(f"{head}\n{rows[0]}\n", *(part for word in words for part in ("--set", word)))
        assert done.returncode == (2 if reason else 0) and reason in done.stderr, (words, done.stderr)
    answer = ask("model,gpu,num_gpus,tp,Tokens / sec / GPU\nllama3-8b,h100,8,1,30624 (29521)\n", "--set", "micro_batch=1")
    assert "unknown unit" not in answer[0]["status"], answer


test_what_a_caption_says()
print("1 passed, 0 failed")
