"""Training and inference steps of models from their description alone, against measurements of others.

No figure here was fitted: the formulas' constants come from catalog/costs.yaml and the devices' data sheets. The LLM rows
are NeuSight's (shared data, not shipped); the CNN throughputs are published and stand below with their source.
"""
import csv
import json
import os
import statistics
import subprocess
import sys

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
DEVICES = {"AMD_Instinct_MI100": "mi100", "NVIDIA_A100-PCIE-40GB": "a100-40-pcie", "Tesla_V100-PCIE-32GB": "v100-pcie-32"}

# Images per second of one GPU, synthetic data, training. TensorFlow's benchmarks page (tensorflow/docs_src/performance/
# benchmarks.md, commit 5984ffe, May 2017) and NVIDIA/DeepLearningExamples' ResNet-50 v1.5 README (with XLA).
CNN = [("inception_v3", "p100-sxm2", 64, 142, "fp32", "eager"), ("resnet50", "p100-sxm2", 64, 219, "fp32", "eager"),
       ("resnet152", "p100-sxm2", 64, 91.8, "fp32", "eager"), ("vgg16", "p100-sxm2", 64, 154, "fp32", "eager"),
       ("alexnet", "p100-sxm2", 512, 2987, "fp32", "eager"), ("resnet50", "p100-sxm2", 32, 195, "fp32", "eager"),
       ("vgg16", "p100-sxm2", 32, 144, "fp32", "eager"), ("resnet50", "k80", 64, 51.9, "fp32", "eager"),
       ("inception_v3", "k80", 64, 30.5, "fp32", "eager"), ("vgg16", "k80", 32, 35.4, "fp32", "eager"),
       ("resnet152", "k80", 32, 19.4, "fp32", "eager"), ("resnet50", "k80", 32, 48.4, "fp32", "eager"),
       ("resnet50", "v100-sxm2-16", 128, 412, "fp32", "compiled"), ("resnet50", "v100-sxm2-16", 256, 1270, "amp", "compiled"),
       ("resnet50", "a100-40-sxm", 128, 909, "tf32", "compiled"), ("resnet50", "a100-40-sxm", 256, 2375, "amp", "compiled")]


def predict(model, device, settings):
    words = [word for setting in settings.items() for word in ("--set", "=".join(map(str, setting)))]
    done = subprocess.run([PACELINE, "predict", model, "--on", device, "-f", "json", *words], capture_output=True)
    assert done.returncode == 0, (model, device, settings, done.stderr.decode())
    return json.loads(done.stdout)["scenarios"][0]


def compare(name, predicted, measured_ns):
    error = predicted["step_ns"] / measured_ns - 1
    within = predicted["low_ns"] <= measured_ns <= predicted["high_ns"]
    print(f"{name:55s} measured {measured_ns / 1e6:9.1f} ms, predicted {predicted['step_ns'] / 1e6:9.1f} ms, {100 * error:+6.1f} %"
          f"{'' if within else ', outside the interval'}")
    return error, within


def llm_errors():
    errors = []
    with open(os.path.join(SHARED, "llm", "neusight_model_latency.csv")) as file:
        for row in csv.DictReader(file):
            if row["model"] == "switchxl4":  # a mixture of experts, which is not lowered
                continue
            settings = {"micro_batch": row["batch"], "sequence": row["seq"], "precision": "fp32", "attention": "math", "input": "synthetic", "optimizer": "sgd",
                        "mode": "inference" if row["mode"] == "inf" else "training",
                        "execution": "compiled" if row["variant"] == "fusion" else "eager"}
            name = f"{row['device']} {row['model']} {row['mode']} {row['variant']} x{row['batch']}"
            errors.append(compare(name, predict(row["model"], DEVICES.get(row["device"], row["device"]), settings), float(row["e2e_ms"]) * 1e6))
    return errors


def cnn_errors():
    errors = []
    for model, device, batch, images_per_s, precision, execution in CNN:
        settings = {"micro_batch": batch, "precision": precision, "execution": execution, "input": "synthetic", "optimizer": "momentum"}
        errors.append(compare(f"{device} {model} {precision} x{batch}", predict(model, device, settings), batch / images_per_s * 1e9))
    return errors


def mape(errors):
    return statistics.mean(abs(error) for error, _ in errors)


def coverage(errors):
    return statistics.mean(within for _, within in errors)


def main():
    cnn = cnn_errors()
    print(f"CNN: MAPE {100 * mape(cnn):.1f} %, {100 * coverage(cnn):.0f} % inside the interval")
    assert mape(cnn) <= 0.20, "worse than when this was written"
    if not os.path.isdir(os.path.join(SHARED, "llm")):
        print("NeuSight's rows are not here")
        return
    llm = llm_errors()
    print(f"LLM: MAPE {100 * mape(llm):.1f} %, {100 * coverage(llm):.0f} % inside the interval")
    assert mape(llm) <= 0.10


if __name__ == "__main__":
    sys.exit(main())
