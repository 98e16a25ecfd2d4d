/*
 * Module: a CUDA device. Runs are queued back to back on one stream and timed by events, so that work shorter than
 * launch_s shows the rate of launches instead of its own time. Copies of ordinary host memory, which block, are timed
 * by the host's clock.
 */
#include "cuda_work.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

pace_probe_status cuda_failed(char *message, const char *what) {
    cudaError_t error = cudaGetLastError();
    snprintf(message, PACE_BACKEND_MESSAGE, "%s: %s", what,
             error == cudaSuccess ? "cannot be made" : cudaGetErrorString(error));
    return PACE_PROBE_FAILED;
}

static double now_s() {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- copies ------------------------------------------------------------------------------------------------------ */

static bool is_to_host(pace_measured_op op) { return op == PACE_MEASURE_D2H_PINNED || op == PACE_MEASURE_D2H_PAGEABLE; }

static bool run_transfer(cuda_work *w) {
    size_t bytes = (size_t)w->point.size[PACE_SIZE_BYTES];
    if (w->point.op == PACE_MEASURE_D2D)
        return cudaMemcpyAsync(w->tensor[1], w->tensor[0], bytes, cudaMemcpyDeviceToDevice, w->stream) == cudaSuccess;
    if (w->point.op == PACE_MEASURE_PEER)
        return cudaMemcpyPeerAsync(w->peer, w->peer_device, w->tensor[0], w->device, bytes, w->stream) == cudaSuccess;
    if (is_to_host(w->point.op))
        return cudaMemcpyAsync(w->host, w->tensor[0], bytes, cudaMemcpyDeviceToHost, w->stream) == cudaSuccess;
    return cudaMemcpyAsync(w->tensor[0], w->host, bytes, cudaMemcpyHostToDevice, w->stream) == cudaSuccess;
}

/* Another device that this one reaches directly; -1 when there is none. */
static int find_peer(int device) {
    int count = 0, can = 0;
    cudaGetDeviceCount(&count);
    for (int other = 0; other < count; other++)
        if (other != device && cudaDeviceCanAccessPeer(&can, device, other) == cudaSuccess && can) return other;
    return -1;
}

static bool make_peer(cuda_work *w, size_t bytes) {
    bool made = cudaSetDevice(w->peer_device) == cudaSuccess && cudaMalloc(&w->peer, bytes) == cudaSuccess;
    cudaSetDevice(w->device);
    cudaDeviceEnablePeerAccess(w->peer_device, 0);
    cudaGetLastError(); /* it may be enabled already */
    return made;
}

pace_probe_status cuda_prepare_transfer(cuda_work *work, char *message) {
    pace_measured_op op = work->point.op;
    size_t bytes = (size_t)work->point.size[PACE_SIZE_BYTES];
    if (op < PACE_MEASURE_H2D_PINNED || op > PACE_MEASURE_PEER) return PACE_PROBE_OTHER;
    bool host = op != PACE_MEASURE_D2D && op != PACE_MEASURE_PEER;
    work->pinned = op == PACE_MEASURE_H2D_PINNED || op == PACE_MEASURE_D2H_PINNED;
    work->peer_device = op == PACE_MEASURE_PEER ? find_peer(work->device) : -1;
    if (op == PACE_MEASURE_PEER && work->peer_device < 0) return PACE_PROBE_OTHER;
    bool made = cudaMalloc(&work->tensor[0], bytes) == cudaSuccess;
    if (op == PACE_MEASURE_D2D) made = made && cudaMalloc(&work->tensor[1], bytes) == cudaSuccess;
    if (op == PACE_MEASURE_PEER) made = made && make_peer(work, bytes);
    if (host && work->pinned) made = made && cudaMallocHost(&work->host, bytes) == cudaSuccess;
    if (host && !work->pinned) work->host = malloc(bytes);
    if (host && (!made || !work->host)) return cuda_failed(message, "buffers");
    if (host) memset(work->host, 1, bytes); /* its pages must be there */
    work->run = run_transfer;
    return made ? PACE_PROBE_OK : cuda_failed(message, "buffers");
}

/* --- a point ----------------------------------------------------------------------------------------------------- */

static void release(void *state) {
    cuda_work *w = (cuda_work *)state;
    cudaStreamSynchronize(w->stream);
    for (void *tensor : w->tensor) cudaFree(tensor);
    cudaFree(w->peer);
    if (w->pinned) cudaFreeHost(w->host);
    else free(w->host);
    if (w->plan) w->release_plan(w->plan);
    cudaStreamDestroy(w->stream);
    cudaGetLastError();
    delete w;
}

static pace_probe_status prepare(void **state, const pace_point *point, int device, char *message) {
    cuda_work *work = new cuda_work();
    work->point = *point;
    work->device = device;
    pace_probe_status status = PACE_PROBE_OTHER;
    if (cudaSetDevice(device) != cudaSuccess || cudaStreamCreate(&work->stream) != cudaSuccess)
        status = cuda_failed(message, "stream");
    if (status == PACE_PROBE_OTHER) status = cuda_prepare_product(work, message);
    if (status == PACE_PROBE_OTHER) status = cuda_prepare_convolution(work, message);
    if (status == PACE_PROBE_OTHER) status = cuda_prepare_transfer(work, message);
    if (status == PACE_PROBE_OTHER) status = cuda_prepare_kernel(work, message);
    if (status == PACE_PROBE_OK && cudaStreamSynchronize(work->stream) != cudaSuccess)
        status = cuda_failed(message, "first use");
    if (status == PACE_PROBE_OK) *state = work;
    else release(work);
    return status;
}

static bool blocks(pace_measured_op op) { return op == PACE_MEASURE_H2D_PAGEABLE || op == PACE_MEASURE_D2H_PAGEABLE; }

static pace_probe_status time_on_host(double *seconds, cuda_work *w, unsigned runs, char *message) {
    double start = now_s();
    for (unsigned i = 0; i < runs; i++)
        if (!w->run(w) || cudaStreamSynchronize(w->stream) != cudaSuccess) return cuda_failed(message, "copy");
    *seconds = now_s() - start;
    return PACE_PROBE_OK;
}

static pace_probe_status time_on_device(double *seconds, cuda_work *w, unsigned runs, char *message) {
    cudaEvent_t start = NULL, end = NULL;
    float milliseconds = 0;
    bool good = cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess &&
                cudaEventRecord(start, w->stream) == cudaSuccess;
    for (unsigned i = 0; i < runs && good; i++) good = w->run(w);
    good = good && cudaEventRecord(end, w->stream) == cudaSuccess && cudaEventSynchronize(end) == cudaSuccess &&
           cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess;
    if (start) cudaEventDestroy(start);
    if (end) cudaEventDestroy(end);
    *seconds = 1e-3 * (double)milliseconds;
    return good ? PACE_PROBE_OK : cuda_failed(message, "run");
}

static pace_probe_status time_runs(double *seconds, void *state, unsigned runs, char *message) {
    cuda_work *w = (cuda_work *)state;
    if (cudaSetDevice(w->device) != cudaSuccess) return cuda_failed(message, "device");
    return blocks(w->point.op) ? time_on_host(seconds, w, runs, message) : time_on_device(seconds, w, runs, message);
}

/* --- the device -------------------------------------------------------------------------------------------------- */

__global__ void nothing() {}

static double median(double *values, int count) {
    std::sort(values, values + count);
    return values[count / 2];
}

enum { TIMES = 31, LAUNCHES = 1000 };

/* Per launch when one thread launches back to back. */
static double launch_cost() {
    double seconds[TIMES];
    for (double &one : seconds) {
        cudaDeviceSynchronize();
        double start = now_s();
        for (int i = 0; i < LAUNCHES; i++) nothing<<<1, 1>>>();
        cudaDeviceSynchronize();
        one = (now_s() - start) / LAUNCHES;
    }
    return median(seconds, TIMES);
}

/* From the end of the call on an idle device to the host's knowing that the kernel is over: start, run and signal. */
static double launch_lag() {
    double seconds[TIMES];
    for (double &one : seconds) {
        cudaDeviceSynchronize();
        nothing<<<1, 1>>>();
        double called = now_s();
        cudaDeviceSynchronize();
        one = now_s() - called;
    }
    return median(seconds, TIMES);
}

/* Kernels that alternate between two streams, each waiting for the one before: seconds per kernel. */
static double chain(cudaStream_t *streams, cudaEvent_t *events, bool alternate) {
    double seconds[TIMES];
    for (double &one : seconds) {
        cudaDeviceSynchronize();
        double start = now_s();
        for (int i = 0; i < LAUNCHES; i++) {
            int here = alternate ? i % 2 : 0;
            if (alternate && i) cudaStreamWaitEvent(streams[here], events[1 - here], 0);
            nothing<<<1, 1, 0, streams[here]>>>();
            cudaEventRecord(events[here], streams[here]);
        }
        cudaDeviceSynchronize();
        one = (now_s() - start) / LAUNCHES;
    }
    return median(seconds, TIMES);
}

/* What a wait for another stream adds to a kernel in a chain. */
static double event_lag() {
    cudaStream_t streams[2];
    cudaEvent_t events[2];
    for (int i = 0; i < 2; i++)
        if (cudaStreamCreate(&streams[i]) != cudaSuccess ||
            cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming) != cudaSuccess)
            return 0;
    double lag = chain(streams, events, true) - chain(streams, events, false);
    for (int i = 0; i < 2; i++) {
        cudaStreamDestroy(streams[i]);
        cudaEventDestroy(events[i]);
    }
    return lag > 0 ? lag : 0;
}

static pace_probe_status describe(pace_device_facts *facts, int device, char *message) {
    cudaDeviceProp properties;
    size_t free_bytes = 0, all_bytes = 0;
    int kilohertz = 0;
    if (cudaSetDevice(device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess ||
        cudaMemGetInfo(&free_bytes, &all_bytes) != cudaSuccess)
        return cuda_failed(message, "no CUDA device");
    cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device);
    snprintf(facts->name, sizeof facts->name, "%.95s", properties.name);
    snprintf(facts->vendor, sizeof facts->vendor, "NVIDIA");
    cuda_libraries(facts->software, sizeof facts->software);
    facts->memory_bytes = (double)all_bytes;
    facts->free_bytes = (double)free_bytes;
    facts->cache_bytes = (double)properties.l2CacheSize;
    facts->sm_count = properties.multiProcessorCount;
    facts->boost_hz = 1e3 * kilohertz;
    facts->timer_s = 1e-6; /* of events: half a microsecond (CUDA runtime manual) */
    facts->launch_s = launch_cost();
    facts->launch_lag_s = launch_lag();
    facts->event_lag_s = event_lag();
    return cudaDeviceSynchronize() == cudaSuccess ? PACE_PROBE_OK : cuda_failed(message, "device");
}

static const pace_backend cuda = {
    PACE_BACKEND_VERSION, "cuda", "cuda", NULL, describe, prepare, time_runs, release,
};

extern "C" const pace_backend *pace_calibrate_backend(void) { return &cuda; }
