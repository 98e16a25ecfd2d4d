"""The planted recordings as profilers of other devices write them: categories and calls of XPU, AMD's GPUs and MTIA. "rocm" has the
names of AMD's kernels and copies too, which do not say what an exchange does nor from which memory a copy comes. "intel" has those that
oneDNN, PyTorch's kernels in SYCL and Intel's profiling tools give.
"""
import trace_files

CALLS = {
    "xpu": {"cudaLaunchKernel": "urEnqueueKernelLaunch", "cudaLaunchKernelExC": "urEnqueueKernelLaunch", "cudaMemcpyAsync": "urEnqueueUSMMemcpy",
            "cudaStreamSynchronize": "urQueueFinish", "cudaDeviceSynchronize": "urQueueFinish"},
    "amd": {"cudaLaunchKernel": "hipLaunchKernel", "cudaLaunchKernelExC": "hipExtLaunchKernel", "cudaMemcpyAsync": "hipMemcpyAsync",
            "cudaStreamSynchronize": "hipStreamSynchronize", "cudaDeviceSynchronize": "hipDeviceSynchronize"},
    "mtia": {"cudaLaunchKernel": "mtiaLaunchKernel", "cudaLaunchKernelExC": "mtiaLaunchKernel", "cudaMemcpyAsync": "mtiaMemcpyAsync",
             "cudaStreamSynchronize": "mtiaStreamSynchronize", "cudaDeviceSynchronize": "mtiaDeviceSynchronize"},
}
CALLS["rocm"] = {**CALLS["amd"], "cudaGraphLaunch": "hipGraphLaunch", "cuLaunchKernel": "hipModuleLaunchKernel", "cuLaunchKernelEx": "hipModuleLaunchKernel",
                 "cudaMalloc": "hipMalloc", "cudaFree": "hipFree", "cudaMemsetAsync": "hipMemsetAsync"}
CALLS["intel"] = {**CALLS["xpu"], "cudaEventSynchronize": "urEventWait", "cudaMemsetAsync": "urEnqueueUSMFill"}
WORK = {"rocm": [("s16816gemm", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB0_AFC1"),
                 ("sgemm", "Cijk_Ailk_Bljk_SB_MT128x96x32_MI32x32x2_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0"),
                 ("flash_fwd", "attn_fwd"), ("ncclDevKernel", "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"),
                 ("Memcpy HtoD", "Memcpy HtoD (Host -> Device)"), ("Memcpy DtoH", "Memcpy DtoH (Device -> Host)")],
        "intel": [("s16816gemm", "gemm_kernel"), ("sgemm", "gemm_kernel"), ("flash_fwd", "cute::XeFMHAFwdKernel<cutlass::fmha::FMHAProblemShape<false> >"),
                  ("xmma_fprop", "gen_conv"), ("direct_copy", "at::native::xpu::UnrolledElementwiseKernel<at::native::xpu::CopyScalarFunc<float> >"),
                  ("elementwise_kernel", "at::native::xpu::VectorizedElementwiseKernel<4, at::native::xpu::AddFunctor<float> >"),
                  ("multi_tensor", "at::native::xpu::MultiTensorApplyKernelFunctor<at::native::xpu::TLMetaForAddressScalar<float, 2> >"),
                  ("cunn_SoftMax", "at::native::xpu::DispatchSoftmaxForwardKernelFunctor<16, float, float, unsigned int>"),
                  ("ncclDevKernel", "oneccl_allreduce_ll256"),
                  ("Memcpy HtoD", "Memcpy M2D (MEMORY(Unknown) -> DEVICE)"), ("Memcpy DtoH", "Memcpy D2M (DEVICE -> MEMORY(Unknown))"),
                  ("Memcpy DtoD", "Memcpy D2D (DEVICE -> DEVICE)")]}
CATEGORIES = {"xpu": {"cuda_runtime": "xpu_runtime"}, "intel": {"cuda_runtime": "xpu_runtime"}, "amd": {}, "rocm": {}, "mtia": {"cuda_runtime": "mtia_runtime", "kernel": "mtia_ccp_events"}}
DEVICES = {"intel": "Intel(R) Data Center GPU Max 1550", "xpu": "Intel(R) Data Center GPU Max 1550", "amd": "AMD Instinct MI300X", "rocm": "AMD Instinct MI300X", "mtia": "MTIA"}


def rewrite(paths, kind):
    """Rewrites the recordings in place; returns their paths."""
    for path in paths:
        document = trace_files.read(path)
        for event in document["traceEvents"]:
            if event["cat"] == "cuda_runtime":
                event["name"] = CALLS[kind][event["name"]]
            elif event["pid"] == 0:
                event["name"] = next((name for part, name in WORK.get(kind, []) if part in event["name"]), event["name"])
            event["cat"] = CATEGORIES[kind].get(event["cat"], event["cat"])
        document["deviceProperties"][0]["name"] = DEVICES[kind]
        trace_files.write(path, document)
    return paths
