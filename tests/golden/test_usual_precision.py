"""The precision that is not given: mixed for models of a billion parameters on devices that have bf16, fp32 else; and it is said."""
import csv
import gzip
import io
import json
import os
import tempfile

from checks import SOURCE, expect, expect_line, finish, run

CASES = (("llama3-8b", "h100-sxm", "amp_bf16"), ("llama3-8b", "v100-sxm2-32", "fp32"), ("gpt2", "h100-sxm", "fp32"), ("resnet50", "h100-sxm", "fp32"),
         ("gpt2", "gaudi2", "amp_bf16"), ("resnet50", "tpu-v5p", "amp_bf16"))


def step(model, on, *settings):
    words = [word for setting in ("micro_batch=1", *settings) for word in ("--set", setting)]
    code, out, err = run("predict", model, "--on", on, "-q", "-f", "json", *words)
    expect(code in (0, 1), model, err)
    return json.loads(out)


def row(model, on):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        with open(path, "w") as file:
            file.write(f"model,device,micro_batch\n{model},{on},1\n")
        code, out, err = run("predict", "--rows", path, "--kind", "step", "-f", "csv")
    expect(code in (0, 1), err)  # 1: it does not fit into memory
    return next(csv.DictReader(io.StringIO(out)))


for model, on, precision in CASES:
    silent, said = (step(model, on, *words)["values"]["step.median_s"] for words in ((), (f"precision={precision}",)))
    expect(silent == said, "as if it were said", model, on, silent, said)
    expect(float(row(model, on)["predicted"]) == said, "a row too", model, on)

adapted = [step("llama3-8b", "h100-sxm", "lora=8", *words)["values"]["step.median_s"] for words in ((), ("precision=bf16",))]
expect(adapted[0] == adapted[1], "frozen weights lie in bf16", adapted)
spoken = " ".join(step("llama3-8b", "h100-sxm")["summary"])
expect("amp_bf16" in spoken and "precision=fp32" in spoken, "the answer says it", spoken)
spoken = " ".join(step("gpt2", "gaudi2")["summary"])
expect("amp_bf16" in spoken and "no rate of gaudi2 in fp32" in spoken and "parameters" not in spoken, "a device without fp32", spoken)
recording = os.path.join(SOURCE, "tests", "data", "causes", "big_products.json.gz")
code, _, err = run("predict", recording, "--on", "gaudi2")
expect_line(code, err, 2, "predict: gaudi2 has no rate for fp32", "bf16")
code, out, err = run("predict", recording, "--on", "gaudi2", "--precision", "bf16", "-f", "json", "-q")
moved = json.loads(out) if code == 0 else {"families": [], "warnings": [], "scenarios": []}
products = [row for row in moved["families"] if row["family"] == "gemm"]
flop_s = 432e12  # Intel's data sheet of Gaudi 2: BF16 matrix peak, FLOP/s
expect(code == 0 and len(moved["scenarios"]) == 2 and "what_if_joined" in [one["code"] for one in moved["warnings"]], "a recording in fp32", code, err)
with gzip.open(recording) as file:
    products_of = [event["args"]["Input Dims"][1:3] if event["name"] == "aten::addmm" else event["args"]["Input Dims"][:2]
                   for event in json.load(file)["traceEvents"] if event.get("name") in ("aten::mm", "aten::addmm")]
flop = sum(2 * a[0] * a[1] * b[1] for a, b in products_of)
expect(products and products[0]["kernel_ns"] >= 1e9 * flop / flop_s, "no product is faster than the device", products)
infers = step("gpt2", "tpu-v5p", "mode=inference")["values"]["step.median_s"]
expect(infers == step("gpt2", "tpu-v5p", "mode=inference", "precision=amp_bf16")["values"]["step.median_s"], "inference", infers)
finish()
