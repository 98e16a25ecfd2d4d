/* Matrix products by cuBLAS; convolutions by cuDNN where it was there when this was built. */
#include "cuda_work.cuh"

#include <cstdio>
#include <cublas_v2.h>

#ifdef PACE_CUDNN
#include <cudnn.h>
#endif

/* --- cuBLAS ------------------------------------------------------------------------------------------------------ */

static cublasHandle_t blas;

static const struct {
    cudaDataType_t type;
    cublasComputeType_t compute;
} products[PACE_POINT_DTYPES] = {
    {CUDA_R_64F, CUBLAS_COMPUTE_64F}, {CUDA_R_32F, CUBLAS_COMPUTE_32F},  {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    {CUDA_R_16F, CUBLAS_COMPUTE_32F}, {CUDA_R_16BF, CUBLAS_COMPUTE_32F},
};

/* Row-major C = A B is column-major C' = B' A'. */
static bool run_product(cuda_work *w) {
    const double *s = w->point.size;
    const double one_double = 1, zero_double = 0;
    const float one_single = 1, zero_single = 0;
    bool wide = w->point.dtype == PACE_POINT_FP64;
    int m = (int)s[PACE_SIZE_M], n = (int)s[PACE_SIZE_N], k = (int)s[PACE_SIZE_K];
    long long a = (long long)m * k, b = (long long)k * n, c = (long long)m * n;
    cudaDataType_t type = products[w->point.dtype].type;
    const void *one = wide ? (const void *)&one_double : &one_single;
    const void *zero = wide ? (const void *)&zero_double : &zero_single;
    cublasSetStream(blas, w->stream);
    return cublasGemmStridedBatchedEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, one, w->tensor[1], type, n, b,
                                      w->tensor[0], type, k, a, zero, w->tensor[2], type, n, c, (int)s[PACE_SIZE_B],
                                      products[w->point.dtype].compute, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
}

pace_probe_status cuda_prepare_product(cuda_work *work, char *message) {
    const double *s = work->point.size;
    double b = s[PACE_SIZE_B], m = s[PACE_SIZE_M], n = s[PACE_SIZE_N], k = s[PACE_SIZE_K];
    if (work->point.op != PACE_MEASURE_GEMM || work->point.pass != PACE_POINT_FORWARD) return PACE_PROBE_OTHER;
    if (b > 2e9 || m > 2e9 || n > 2e9 || k > 2e9) return PACE_PROBE_OTHER;
    if (!blas && cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) return cuda_failed(message, "cuBLAS");
    if (!cuda_make_tensor(work, 0, b * m * k) || !cuda_make_tensor(work, 1, b * k * n) ||
        !cuda_make_tensor(work, 2, b * m * n))
        return cuda_failed(message, "tensors");
    work->run = run_product;
    return PACE_PROBE_OK;
}

/* --- cuDNN ------------------------------------------------------------------------------------------------------- */

#ifdef PACE_CUDNN

struct convolution {
    cudnnTensorDescriptor_t source, target;
    cudnnFilterDescriptor_t filters;
    cudnnConvolutionDescriptor_t convolution;
    cudnnConvolutionFwdAlgo_t forward;
    cudnnConvolutionBwdDataAlgo_t data;
    cudnnConvolutionBwdFilterAlgo_t weight;
    size_t workspace_bytes;
};

static cudnnHandle_t dnn;

static void release_convolution(void *plan) {
    convolution *c = (convolution *)plan;
    cudnnDestroyTensorDescriptor(c->source);
    cudnnDestroyTensorDescriptor(c->target);
    cudnnDestroyFilterDescriptor(c->filters);
    cudnnDestroyConvolutionDescriptor(c->convolution);
    delete c;
}

static bool describe(convolution *c, const pace_point *p) {
    const double *s = p->size;
    cudnnDataType_t type = p->dtype == PACE_POINT_FP16   ? CUDNN_DATA_HALF
                           : p->dtype == PACE_POINT_BF16 ? CUDNN_DATA_BFLOAT16
                                                         : CUDNN_DATA_FLOAT;
    cudnnMathType_t math = p->dtype == PACE_POINT_FP32 ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH;
    int groups = (int)s[PACE_SIZE_GROUPS], n, k, h, w;
    return cudnnCreateTensorDescriptor(&c->source) == CUDNN_STATUS_SUCCESS &&
           cudnnCreateTensorDescriptor(&c->target) == CUDNN_STATUS_SUCCESS &&
           cudnnCreateFilterDescriptor(&c->filters) == CUDNN_STATUS_SUCCESS &&
           cudnnCreateConvolutionDescriptor(&c->convolution) == CUDNN_STATUS_SUCCESS &&
           cudnnSetTensor4dDescriptor(c->source, CUDNN_TENSOR_NCHW, type, (int)s[PACE_SIZE_N], (int)s[PACE_SIZE_C],
                                      (int)s[PACE_SIZE_H], (int)s[PACE_SIZE_W]) == CUDNN_STATUS_SUCCESS &&
           cudnnSetFilter4dDescriptor(c->filters, type, CUDNN_TENSOR_NCHW, (int)s[PACE_SIZE_K],
                                      (int)s[PACE_SIZE_C] / groups, (int)s[PACE_SIZE_R],
                                      (int)s[PACE_SIZE_S]) == CUDNN_STATUS_SUCCESS &&
           cudnnSetConvolution2dDescriptor(c->convolution, (int)s[PACE_SIZE_PAD_H], (int)s[PACE_SIZE_PAD_W],
                                           (int)s[PACE_SIZE_STRIDE_H], (int)s[PACE_SIZE_STRIDE_W],
                                           (int)s[PACE_SIZE_DILATION], (int)s[PACE_SIZE_DILATION],
                                           CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT) == CUDNN_STATUS_SUCCESS &&
           cudnnSetConvolutionGroupCount(c->convolution, groups) == CUDNN_STATUS_SUCCESS &&
           cudnnSetConvolutionMathType(c->convolution, math) == CUDNN_STATUS_SUCCESS &&
           cudnnGetConvolution2dForwardOutputDim(c->convolution, c->source, c->filters, &n, &k, &h, &w) ==
               CUDNN_STATUS_SUCCESS &&
           cudnnSetTensor4dDescriptor(c->target, CUDNN_TENSOR_NCHW, type, n, k, h, w) == CUDNN_STATUS_SUCCESS;
}

/* The algorithm that cuDNN's own heuristic puts first, as frameworks do without a benchmark. */
static bool choose(convolution *c, pace_point_pass pass) {
    int found = 0;
    if (pass == PACE_POINT_FORWARD) {
        cudnnConvolutionFwdAlgoPerf_t best;
        if (cudnnGetConvolutionForwardAlgorithm_v7(dnn, c->source, c->filters, c->convolution, c->target, 1, &found,
                                                   &best) != CUDNN_STATUS_SUCCESS ||
            found < 1 || best.status != CUDNN_STATUS_SUCCESS)
            return false;
        c->forward = best.algo;
        return cudnnGetConvolutionForwardWorkspaceSize(dnn, c->source, c->filters, c->convolution, c->target,
                                                       c->forward, &c->workspace_bytes) == CUDNN_STATUS_SUCCESS;
    }
    if (pass == PACE_POINT_DGRAD) {
        cudnnConvolutionBwdDataAlgoPerf_t best;
        if (cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn, c->filters, c->target, c->convolution, c->source, 1,
                                                        &found, &best) != CUDNN_STATUS_SUCCESS ||
            found < 1 || best.status != CUDNN_STATUS_SUCCESS)
            return false;
        c->data = best.algo;
        return cudnnGetConvolutionBackwardDataWorkspaceSize(dnn, c->filters, c->target, c->convolution, c->source,
                                                            c->data, &c->workspace_bytes) == CUDNN_STATUS_SUCCESS;
    }
    cudnnConvolutionBwdFilterAlgoPerf_t best;
    if (cudnnGetConvolutionBackwardFilterAlgorithm_v7(dnn, c->source, c->target, c->convolution, c->filters, 1, &found,
                                                      &best) != CUDNN_STATUS_SUCCESS ||
        found < 1 || best.status != CUDNN_STATUS_SUCCESS)
        return false;
    c->weight = best.algo;
    return cudnnGetConvolutionBackwardFilterWorkspaceSize(dnn, c->source, c->target, c->convolution, c->filters,
                                                          c->weight, &c->workspace_bytes) == CUDNN_STATUS_SUCCESS;
}

/* Tensors: 0 source, 1 filters, 2 target, 3 workspace. */
static bool run_convolution(cuda_work *w) {
    convolution *c = (convolution *)w->plan;
    const float one = 1, zero = 0;
    cudnnSetStream(dnn, w->stream);
    if (w->point.pass == PACE_POINT_FORWARD)
        return cudnnConvolutionForward(dnn, &one, c->source, w->tensor[0], c->filters, w->tensor[1], c->convolution,
                                       c->forward, w->tensor[3], c->workspace_bytes, &zero, c->target,
                                       w->tensor[2]) == CUDNN_STATUS_SUCCESS;
    if (w->point.pass == PACE_POINT_DGRAD)
        return cudnnConvolutionBackwardData(dnn, &one, c->filters, w->tensor[1], c->target, w->tensor[2],
                                            c->convolution, c->data, w->tensor[3], c->workspace_bytes, &zero, c->source,
                                            w->tensor[0]) == CUDNN_STATUS_SUCCESS;
    return cudnnConvolutionBackwardFilter(dnn, &one, c->source, w->tensor[0], c->target, w->tensor[2], c->convolution,
                                          c->weight, w->tensor[3], c->workspace_bytes, &zero, c->filters,
                                          w->tensor[1]) == CUDNN_STATUS_SUCCESS;
}

pace_probe_status cuda_prepare_convolution(cuda_work *work, char *message) {
    const double *s = work->point.size;
    if (work->point.op != PACE_MEASURE_CONVOLUTION || work->point.pass == PACE_POINT_BACKWARD ||
        work->point.dtype == PACE_POINT_FP64)
        return PACE_PROBE_OTHER;
    if (!dnn && cudnnCreate(&dnn) != CUDNN_STATUS_SUCCESS) return cuda_failed(message, "cuDNN");
    convolution *c = new convolution();
    work->plan = c;
    work->release_plan = release_convolution;
    if (!describe(c, &work->point) || !choose(c, work->point.pass)) return PACE_PROBE_OTHER;
    double source = s[PACE_SIZE_N] * s[PACE_SIZE_C] * s[PACE_SIZE_H] * s[PACE_SIZE_W];
    double filters = s[PACE_SIZE_K] * s[PACE_SIZE_C] / s[PACE_SIZE_GROUPS] * s[PACE_SIZE_R] * s[PACE_SIZE_S];
    double target = pace_point_footprint(&work->point) / pace_dtype_bytes(work->point.dtype) - source - filters;
    if (!cuda_make_tensor(work, 0, source) || !cuda_make_tensor(work, 1, filters) ||
        !cuda_make_tensor(work, 2, target) || cudaMalloc(&work->tensor[3], c->workspace_bytes + 1) != cudaSuccess)
        return cuda_failed(message, "tensors");
    work->run = run_convolution;
    return PACE_PROBE_OK;
}

#else

pace_probe_status cuda_prepare_convolution(cuda_work *work, char *message) {
    (void)work;
    (void)message;
    return PACE_PROBE_OTHER;
}

#endif

void cuda_libraries(char *text, size_t size) {
    int runtime = 0, driver = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    int used = snprintf(text, size, "CUDA %d.%d driver %d.%d cuBLAS %d.%d", runtime / 1000, runtime % 1000 / 10,
                        driver / 1000, driver % 1000 / 10, CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR);
#ifdef PACE_CUDNN
    if (used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, " cuDNN %d.%d", CUDNN_MAJOR, CUDNN_MINOR);
#else
    (void)used;
#endif
}
