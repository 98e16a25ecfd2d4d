/*
 * Kernels of our own: streaming operations, reductions over rows, transposes, gathers, and the embedding lookup with
 * all tables in one launch (Lin et al. 2022, section III-B: a block for each sample of each table).
 */
#include "cuda_work.cuh"

#include <cstdint>
#include <cuda_fp16.h>

static const int THREADS = 256;

template <typename T> __device__ float to_float(T x) { return (float)x; }
template <> __device__ float to_float(__half x) { return __half2float(x); }
template <typename T> __device__ T from_float(float x) { return (T)x; }
template <> __device__ __half from_float(float x) { return __float2half(x); }

/* --- numbers to start with --------------------------------------------------------------------------------------- */

__device__ uint32_t scramble(uint64_t x) { /* splitmix64 (Steele, Lea and Flood 2014) */
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return (uint32_t)((x ^ (x >> 31)) >> 32);
}

/* bf16 is the upper half of a float. */
__global__ void fill_numbers(void *out, uint64_t count, int dtype) {
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        float value = (float)(scramble(i) >> 8) * (2.0f / 16777216.0f) - 1.0f;
        if (dtype == PACE_POINT_FP64) ((double *)out)[i] = value;
        else if (dtype == PACE_POINT_FP16) ((__half *)out)[i] = __float2half(value);
        else if (dtype == PACE_POINT_BF16) ((uint16_t *)out)[i] = (uint16_t)(__float_as_uint(value) >> 16);
        else ((float *)out)[i] = value;
    }
}

__global__ void fill_indices(int32_t *out, uint64_t count, uint32_t rows) {
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count; i += (uint64_t)gridDim.x * blockDim.x)
        out[i] = (int32_t)(scramble(i) % rows);
}

bool cuda_make_tensor(cuda_work *work, int index, double elements) {
    size_t bytes = (size_t)elements * (size_t)pace_dtype_bytes(work->point.dtype);
    if (cudaMalloc(&work->tensor[index], bytes ? bytes : 1) != cudaSuccess) return false;
    fill_numbers<<<1024, THREADS, 0, work->stream>>>(work->tensor[index], (uint64_t)elements, work->point.dtype);
    return cudaGetLastError() == cudaSuccess;
}

bool cuda_make_indices(cuda_work *work, int index, double count, double rows) {
    if (cudaMalloc(&work->tensor[index], (size_t)count * sizeof(int32_t)) != cudaSuccess) return false;
    fill_indices<<<1024, THREADS, 0, work->stream>>>((int32_t *)work->tensor[index], (uint64_t)count, (uint32_t)rows);
    return cudaGetLastError() == cudaSuccess;
}

/* --- element by element ------------------------------------------------------------------------------------------ */

template <int OP> __device__ float one(float x, float y) {
    if (OP == PACE_MEASURE_SCALE) return 1.0001f * x;
    if (OP == PACE_MEASURE_ADD) return x + y;
    if (OP == PACE_MEASURE_TRIAD) return x + 1.0001f * y;
    if (OP == PACE_MEASURE_RELU) return x > 0 ? x : 0;
    if (OP == PACE_MEASURE_TANH) return tanhf(x);
    if (OP == PACE_MEASURE_GELU) return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    return x;
}

/* 16 bytes a thread. */
template <typename T, int OP> __global__ void elementwise(T *out, const T *a, const T *b, uint64_t count) {
    const int EACH = 16 / sizeof(T);
    struct alignas(16) pack {
        T item[EACH];
    };
    uint64_t packs = count / EACH, at = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (at < packs) {
        pack x = ((const pack *)a)[at], y = b ? ((const pack *)b)[at] : x;
        for (int i = 0; i < EACH; i++) x.item[i] = from_float<T>(one<OP>(to_float(x.item[i]), to_float(y.item[i])));
        ((pack *)out)[at] = x;
    } else if (at == packs) {
        for (uint64_t i = packs * EACH; i < count; i++)
            out[i] = from_float<T>(one<OP>(to_float(a[i]), b ? to_float(b[i]) : 0.0f));
    }
}

template <typename T, int OP> static bool run_elementwise(cuda_work *w) {
    uint64_t count = (uint64_t)w->point.size[PACE_SIZE_ELEMENTS], packs = count / (16 / sizeof(T)) + 1;
    elementwise<T, OP><<<(unsigned)((packs + THREADS - 1) / THREADS), THREADS, 0, w->stream>>>((T *)w->tensor[2],
                                                                                               (const T *)w->tensor[0],
                                                                                               (const T *)w->tensor[1],
                                                                                               count);
    return cudaPeekAtLastError() == cudaSuccess;
}

/* --- rows: a block each ------------------------------------------------------------------------------------------ */

__device__ float combine(float x, float y, bool largest) { return largest ? fmaxf(x, y) : x + y; }

/* The sum or the largest over the block, for every thread. */
__device__ float over_block(float value, bool largest) {
    __shared__ float parts[32];
    for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(~0u, value, step), largest);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[threadIdx.x % (blockDim.x / 32)];
    for (int step = (int)blockDim.x / 64; step > 0; step /= 2)
        value = combine(value, __shfl_xor_sync(~0u, value, step), largest);
    __syncthreads();
    return value;
}

template <typename T> __global__ void softmax(T *out, const T *in, uint32_t columns) {
    const T *a = in + (uint64_t)blockIdx.x * columns;
    T *c = out + (uint64_t)blockIdx.x * columns;
    float sum = 0, most = -INFINITY;
    for (uint32_t i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, to_float(a[i]));
    most = over_block(most, true);
    for (uint32_t i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(to_float(a[i]) - most);
    sum = over_block(sum, false);
    for (uint32_t i = threadIdx.x; i < columns; i += blockDim.x)
        c[i] = from_float<T>(expf(to_float(a[i]) - most) / sum);
}

/* The sum of each row, or each row normalized. */
template <typename T, bool NORMALIZE> __global__ void sums(T *out, const T *in, uint32_t columns) {
    const T *a = in + (uint64_t)blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (uint32_t i = threadIdx.x; i < columns; i += blockDim.x) sum += to_float(a[i]);
    sum = over_block(sum, false);
    if (!NORMALIZE) {
        if (threadIdx.x == 0) out[blockIdx.x] = from_float<T>(sum);
        return;
    }
    T *c = out + (uint64_t)blockIdx.x * columns;
    float mean = sum / (float)columns;
    for (uint32_t i = threadIdx.x; i < columns; i += blockDim.x) {
        float off = to_float(a[i]) - mean;
        squares += off * off;
    }
    float scale = rsqrtf(over_block(squares, false) / (float)columns + 1e-5f);
    for (uint32_t i = threadIdx.x; i < columns; i += blockDim.x) c[i] = from_float<T>((to_float(a[i]) - mean) * scale);
}

template <typename T, int OP> static bool run_rows(cuda_work *w) {
    uint32_t columns = (uint32_t)w->point.size[PACE_SIZE_COLUMNS];
    unsigned threads = columns <= 64 ? 32 : columns <= 256 ? 64 : columns <= 1024 ? 128 : 256;
    unsigned blocks = (unsigned)w->point.size[PACE_SIZE_ROWS];
    T *out = (T *)w->tensor[2];
    const T *in = (const T *)w->tensor[0];
    if (OP == PACE_MEASURE_SOFTMAX) softmax<T><<<blocks, threads, 0, w->stream>>>(out, in, columns);
    else sums<T, OP == PACE_MEASURE_LAYER_NORM><<<blocks, threads, 0, w->stream>>>(out, in, columns);
    return cudaPeekAtLastError() == cudaSuccess;
}

/* --- moving ------------------------------------------------------------------------------------------------------ */

/* A tile of 32 x 32 through shared memory, its rows 33 apart so that columns lie in different banks. */
__global__ void transpose(float *out, const float *in, uint32_t m, uint32_t n) {
    __shared__ float tile[32][33];
    uint64_t matrix = (uint64_t)m * n * blockIdx.z;
    uint32_t col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (uint32_t i = 0; i < 32; i += 8)
        if (col < n && row + i < m) tile[threadIdx.y + i][threadIdx.x] = in[matrix + (uint64_t)(row + i) * n + col];
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    for (uint32_t i = 0; i < 32; i += 8)
        if (col < m && row + i < n) out[matrix + (uint64_t)(row + i) * m + col] = tile[threadIdx.x][threadIdx.y + i];
}

static bool run_transpose(cuda_work *w) {
    const double *s = w->point.size;
    dim3 grid((unsigned)((s[PACE_SIZE_N] + 31) / 32), (unsigned)((s[PACE_SIZE_M] + 31) / 32), (unsigned)s[PACE_SIZE_B]);
    transpose<<<grid, dim3(32, 8), 0, w->stream>>>((float *)w->tensor[2], (const float *)w->tensor[0],
                                                   (uint32_t)s[PACE_SIZE_M], (uint32_t)s[PACE_SIZE_N]);
    return cudaPeekAtLastError() == cudaSuccess;
}

/* A thread gathers one element of the flattened lower triangle, through a list of places as index does. */
__global__ void tril(float *out, const float *in, const int32_t *place, uint32_t kept, uint64_t area, uint64_t count) {
    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i / kept * area + (uint64_t)place[i % kept]];
}

static uint32_t tril_kept(const pace_point *p) {
    uint32_t kept = 0, n = (uint32_t)p->size[PACE_SIZE_N], diagonal = (uint32_t)p->size[PACE_SIZE_DIAGONAL];
    for (uint32_t row = 0; row < (uint32_t)p->size[PACE_SIZE_M]; row++) kept += row + diagonal < n ? row + diagonal : n;
    return kept;
}

static bool run_tril(cuda_work *w) {
    const double *s = w->point.size;
    uint32_t kept = tril_kept(&w->point);
    uint64_t count = (uint64_t)s[PACE_SIZE_B] * kept;
    if (count == 0) return false;
    tril<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, w->stream>>>(
        (float *)w->tensor[2], (const float *)w->tensor[0], (const int32_t *)w->tensor[3], kept,
        (uint64_t)(s[PACE_SIZE_M] * s[PACE_SIZE_N]), count);
    return cudaPeekAtLastError() == cudaSuccess;
}

static bool make_tril_places(cuda_work *w) {
    const double *s = w->point.size;
    uint32_t kept = tril_kept(&w->point), n = (uint32_t)s[PACE_SIZE_N], at = 0;
    int32_t *places = new int32_t[kept + 1];
    for (uint32_t row = 0; row < (uint32_t)s[PACE_SIZE_M]; row++)
        for (uint32_t col = 0; col < n && col < row + (uint32_t)s[PACE_SIZE_DIAGONAL]; col++)
            places[at++] = (int32_t)(row * n + col);
    bool made = cudaMalloc(&w->tensor[3], (kept + 1) * sizeof *places) == cudaSuccess &&
                cudaMemcpy(w->tensor[3], places, kept * sizeof *places, cudaMemcpyHostToDevice) == cudaSuccess;
    delete[] places;
    return made;
}

/* Samples of `first` and `second` elements, one behind the other. */
__global__ void concat(float *out, const float *a, const float *b, uint32_t first, uint32_t second, uint64_t count) {
    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint64_t sample = i / (first + second), at = i % (first + second);
    out[i] = at < first ? a[sample * first + at] : b[sample * second + at - first];
}

static bool run_concat(cuda_work *w) {
    const double *s = w->point.size;
    uint64_t count = (uint64_t)s[PACE_SIZE_ELEMENTS];
    concat<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS, 0, w->stream>>>(
        (float *)w->tensor[2], (const float *)w->tensor[0], (const float *)w->tensor[1],
        (uint32_t)(s[PACE_SIZE_M] * s[PACE_SIZE_K]), (uint32_t)(s[PACE_SIZE_N] * s[PACE_SIZE_K]), count);
    return cudaPeekAtLastError() == cudaSuccess;
}

/* --- embedding lookup -------------------------------------------------------------------------------------------- */

/* Threads of a block: columns of a row (x) and samples (y); a block is of one table (blockIdx.y). */
__global__ void lookup_forward(float *out, const float *tables, const int32_t *index, uint32_t samples,
                               uint64_t table_rows, uint32_t lookups, uint32_t d) {
    uint32_t sample = blockIdx.x * blockDim.y + threadIdx.y;
    if (sample >= samples) return;
    const float *table = tables + (uint64_t)blockIdx.y * table_rows * d;
    uint64_t item = (uint64_t)blockIdx.y * samples + sample;
    for (uint32_t col = threadIdx.x; col < d; col += blockDim.x) {
        float sum = 0;
        for (uint32_t l = 0; l < lookups; l++) sum += table[(uint64_t)index[item * lookups + l] * d + col];
        out[item * d + col] = sum;
    }
}

/* The gradient of a sample goes to every row it looked up, as a step of SGD. */
__global__ void lookup_backward(float *tables, const float *gradient, const int32_t *index, uint32_t samples,
                                uint64_t table_rows, uint32_t lookups, uint32_t d) {
    uint32_t sample = blockIdx.x * blockDim.y + threadIdx.y;
    if (sample >= samples) return;
    float *table = tables + (uint64_t)blockIdx.y * table_rows * d;
    uint64_t item = (uint64_t)blockIdx.y * samples + sample;
    for (uint32_t col = threadIdx.x; col < d; col += blockDim.x) {
        float step = -1e-6f * gradient[item * d + col];
        for (uint32_t l = 0; l < lookups; l++) atomicAdd(&table[(uint64_t)index[item * lookups + l] * d + col], step);
    }
}

static bool run_lookup(cuda_work *w) {
    const double *s = w->point.size;
    uint32_t samples = (uint32_t)s[PACE_SIZE_B], d = (uint32_t)s[PACE_SIZE_D], lookups = (uint32_t)s[PACE_SIZE_LOOKUPS];
    uint32_t width = d < 32 ? 32 : d > THREADS ? THREADS : (d + 31) / 32 * 32, height = THREADS / width;
    dim3 grid((samples + height - 1) / height, (unsigned)s[PACE_SIZE_TABLES]), block(width, height);
    float *tables = (float *)w->tensor[0], *vectors = (float *)w->tensor[2];
    const int32_t *index = (const int32_t *)w->tensor[3];
    uint64_t table_rows = (uint64_t)s[PACE_SIZE_ROWS];
    if (w->point.pass == PACE_POINT_FORWARD)
        lookup_forward<<<grid, block, 0, w->stream>>>(vectors, tables, index, samples, table_rows, lookups, d);
    else lookup_backward<<<grid, block, 0, w->stream>>>(tables, vectors, index, samples, table_rows, lookups, d);
    return cudaPeekAtLastError() == cudaSuccess;
}

/* --- which one --------------------------------------------------------------------------------------------------- */

template <typename T> static bool (*typed_run(pace_measured_op op))(cuda_work *) {
    switch (op) {
    case PACE_MEASURE_COPY: return run_elementwise<T, PACE_MEASURE_COPY>;
    case PACE_MEASURE_SCALE: return run_elementwise<T, PACE_MEASURE_SCALE>;
    case PACE_MEASURE_ADD: return run_elementwise<T, PACE_MEASURE_ADD>;
    case PACE_MEASURE_TRIAD: return run_elementwise<T, PACE_MEASURE_TRIAD>;
    case PACE_MEASURE_RELU: return run_elementwise<T, PACE_MEASURE_RELU>;
    case PACE_MEASURE_GELU: return run_elementwise<T, PACE_MEASURE_GELU>;
    case PACE_MEASURE_TANH: return run_elementwise<T, PACE_MEASURE_TANH>;
    case PACE_MEASURE_SUM: return run_rows<T, PACE_MEASURE_SUM>;
    case PACE_MEASURE_SOFTMAX: return run_rows<T, PACE_MEASURE_SOFTMAX>;
    case PACE_MEASURE_LAYER_NORM: return run_rows<T, PACE_MEASURE_LAYER_NORM>;
    default: return NULL;
    }
}

/* Operations that are there in FP32 alone. */
static bool (*single_run(const pace_point *point))(cuda_work *) {
    bool forward = point->pass == PACE_POINT_FORWARD;
    if (point->op == PACE_MEASURE_EMBEDDING && (forward || point->pass == PACE_POINT_BACKWARD)) return run_lookup;
    if (!forward) return NULL;
    if (point->op == PACE_MEASURE_TRANSPOSE) return run_transpose;
    if (point->op == PACE_MEASURE_TRIL) return run_tril;
    if (point->op == PACE_MEASURE_CONCAT) return run_concat;
    return NULL;
}

static bool make_tensors(cuda_work *w) {
    const double *s = w->point.size;
    double area = s[PACE_SIZE_B] * s[PACE_SIZE_M] * s[PACE_SIZE_N], plane = s[PACE_SIZE_ROWS] * s[PACE_SIZE_COLUMNS];
    double vectors = s[PACE_SIZE_B] * s[PACE_SIZE_TABLES];
    switch (w->point.op) {
    case PACE_MEASURE_EMBEDDING:
        return cuda_make_tensor(w, 0, s[PACE_SIZE_TABLES] * s[PACE_SIZE_ROWS] * s[PACE_SIZE_D]) &&
               cuda_make_tensor(w, 2, vectors * s[PACE_SIZE_D]) &&
               cuda_make_indices(w, 3, vectors * s[PACE_SIZE_LOOKUPS], s[PACE_SIZE_ROWS]);
    case PACE_MEASURE_TRANSPOSE: return cuda_make_tensor(w, 0, area) && cuda_make_tensor(w, 2, area);
    case PACE_MEASURE_TRIL: return cuda_make_tensor(w, 0, area) && cuda_make_tensor(w, 2, area) && make_tril_places(w);
    case PACE_MEASURE_CONCAT:
        return cuda_make_tensor(w, 0, s[PACE_SIZE_B] * s[PACE_SIZE_M] * s[PACE_SIZE_K]) &&
               cuda_make_tensor(w, 1, s[PACE_SIZE_B] * s[PACE_SIZE_N] * s[PACE_SIZE_K]) &&
               cuda_make_tensor(w, 2, s[PACE_SIZE_ELEMENTS]);
    case PACE_MEASURE_SUM:
    case PACE_MEASURE_SOFTMAX:
    case PACE_MEASURE_LAYER_NORM: return cuda_make_tensor(w, 0, plane) && cuda_make_tensor(w, 2, plane);
    default:
        return cuda_make_tensor(w, 0, s[PACE_SIZE_ELEMENTS]) && cuda_make_tensor(w, 2, s[PACE_SIZE_ELEMENTS]) &&
               (s[PACE_SIZE_INPUTS] < 2 || cuda_make_tensor(w, 1, s[PACE_SIZE_ELEMENTS]));
    }
}

/* Grids are at most 65,535 deep, and 2^31 blocks wide. */
static bool fits_grid(const pace_point *p) {
    return p->op != PACE_MEASURE_TRANSPOSE || (p->size[PACE_SIZE_B] <= 65535 && p->size[PACE_SIZE_M] <= 32.0 * 65535);
}

pace_probe_status cuda_prepare_kernel(cuda_work *work, char *message) {
    const pace_point *point = &work->point;
    if (point->dtype == PACE_POINT_FP32) work->run = single_run(point);
    if (!work->run && point->pass == PACE_POINT_FORWARD)
        work->run = point->dtype == PACE_POINT_FP32   ? typed_run<float>(point->op)
                    : point->dtype == PACE_POINT_FP16 ? typed_run<__half>(point->op)
                                                      : NULL;
    if (!work->run || !fits_grid(point)) {
        work->run = NULL;
        return PACE_PROBE_OTHER;
    }
    return make_tensors(work) ? PACE_PROBE_OK : cuda_failed(message, "tensors");
}
