"""The planted recordings as profilers of other devices write them: categories and calls of XPU, AMD's GPUs and MTIA."""
import gzip
import json

CALLS = {
    "xpu": {"cudaLaunchKernel": "urEnqueueKernelLaunch", "cudaLaunchKernelExC": "urEnqueueKernelLaunch", "cudaMemcpyAsync": "urEnqueueUSMMemcpy",
            "cudaStreamSynchronize": "urQueueFinish", "cudaDeviceSynchronize": "urQueueFinish"},
    "amd": {"cudaLaunchKernel": "hipLaunchKernel", "cudaLaunchKernelExC": "hipExtLaunchKernel", "cudaMemcpyAsync": "hipMemcpyAsync",
            "cudaStreamSynchronize": "hipStreamSynchronize", "cudaDeviceSynchronize": "hipDeviceSynchronize"},
    "mtia": {"cudaLaunchKernel": "mtiaLaunchKernel", "cudaLaunchKernelExC": "mtiaLaunchKernel", "cudaMemcpyAsync": "mtiaMemcpyAsync",
             "cudaStreamSynchronize": "mtiaStreamSynchronize", "cudaDeviceSynchronize": "mtiaDeviceSynchronize"},
}
CATEGORIES = {"xpu": {"cuda_runtime": "xpu_runtime"}, "amd": {}, "mtia": {"cuda_runtime": "mtia_runtime", "kernel": "mtia_ccp_events"}}
DEVICES = {"xpu": "Intel(R) Data Center GPU Max 1550", "amd": "AMD Instinct MI300X", "mtia": "MTIA"}


def rewrite(paths, kind):
    """Rewrites the recordings in place; returns their paths."""
    for path in paths:
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt") as file:
            document = json.load(file)
        for event in document["traceEvents"]:
            if event["cat"] == "cuda_runtime":
                event["name"] = CALLS[kind][event["name"]]
            event["cat"] = CATEGORIES[kind].get(event["cat"], event["cat"])
        document["deviceProperties"][0]["name"] = DEVICES[kind]
        with opener(path, "wt") as file:
            json.dump(document, file)
    return paths
