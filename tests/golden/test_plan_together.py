"""`plan --together`: shares add up, every machine's time is its own plan's, and alike machines are as fast as one of twice the size."""
import json
import sys

from checks import expect, expect_line, finish, run

SETTINGS = ["--set", "framework=megatron-core", "--set", "precision=bf16"]


def plan(*words):
    code, out, err = run("plan", "llama3_8b", *SETTINGS, *words, "-f", "json", "-q")
    return code, json.loads(out) if out else None, err


def together(batch, *machines):
    return plan("--together", "--set", f"global_batch={batch}", *[w for m in machines for w in ("--on", m)])


def test_shares(*machines):
    code, answer, err = together(512, *machines)
    shares, values = answer["shares"], answer["values"]
    expect(code == 0 and [s["machine"] for s in shares] == list(machines), shares, err)
    expect(sum(s["samples"] for s in shares) == 512, "all samples", shares)
    slowest = max(s["step_s"] for s in shares)
    expect(abs(values["together.step_s"] - slowest - values["together.exchange_s"]) < 1e-12, "the slowest and the exchange", values)
    for one in shares:
        _, alone, _ = plan("--on", one["machine"], "--set", f"global_batch={one['samples']}", "--top", "1")
        expect(one["step_s"] in [row["step_s"] for row in alone["configurations"]], "its own plan's time", one, alone["configurations"])
    expect(all(s["step_s"] > 0.8 * slowest for s in shares), "all end at about the same time", shares)
    expect(values["together.step_s"] < answer["values"]["best.step_s"], "faster than the best alone", values)


def test_alike():
    """Two machines of one kind share evenly, and take what one of their sizes together takes, but for what it hides."""
    _, answer, _ = together(512, "dgx-h100*2", "dgx-h100*2")
    expect([s["samples"] for s in answer["shares"]] == [256, 256], answer["shares"])
    _, whole, _ = plan("--on", "dgx-h100*4", "--set", "global_batch=512", "--top", "1")
    ratio = answer["values"]["together.step_s"] / whole["configurations"][0]["step_s"]
    expect(0.95 < ratio < 1.1, "as one machine", ratio)


def test_no():
    code, _, err = run("plan", "llama3_8b", "--on", "dgx-h100*2", "--together", "--set", "global_batch=512")
    expect_line(code, err, 2, "expected two machines at least")
    code, _, err = run("plan", "llama3_8b", "--on", "dgx-h100*2", "--on", "dgx-a100*2", "--together")
    expect_line(code, err, 2, "global_batch=N")
    code, answer, _ = plan("--together", "--set", "global_batch=512", "--set", "offload=none", "--on", "dgx-h100*2", "--on", "a100*1")
    expect(code == 1 and any("Together they cannot" in s for s in answer["summary"]), "fits on one alone", answer["summary"])


test_shares("dgx-a100*2", "dgx-h100*2")
test_shares("dgx-a100*2", "dgx-h100*2", "hgx-b200")
test_alike()
test_no()
sys.exit(finish())
