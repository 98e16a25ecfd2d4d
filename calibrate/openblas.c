/* Module: matrix products by OpenBLAS (Debian package libopenblas-dev). */
#include "backend.h"
#include "host_clock.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    blasint b, m, n, k;
    bool wide;
    void *a, *x, *c;
} product;

static int thread_count = 1;

static void set_threads(int threads) {
    thread_count = threads;
    openblas_set_num_threads(threads);
}

static void release(void *state) {
    product *p = state;
    free(p->a);
    free(p->x);
    free(p->c);
    free(p);
}

static void *numbers(double count, bool wide) {
    size_t size = ((size_t)count * (wide ? 8 : 4) + 127) / 64 * 64;
    void *block = aligned_alloc(64, size);
    for (size_t i = 0; block && i < (size_t)count; i++) {
        double value = 1e-3 * (double)(i % 997) - 0.5;
        if (wide) ((double *)block)[i] = value;
        else ((float *)block)[i] = (float)value;
    }
    return block;
}

static pace_probe_status prepare(void **state, const pace_point *point, int device, char *message) {
    const double *s = point->size;
    (void)device;
    bool wide = point->dtype == PACE_POINT_FP64;
    if (point->op != PACE_MEASURE_GEMM || point->pass != PACE_POINT_FORWARD) return PACE_PROBE_OTHER;
    if (!wide && point->dtype != PACE_POINT_FP32) return PACE_PROBE_OTHER;
    if (s[PACE_SIZE_M] > 1e9 || s[PACE_SIZE_N] > 1e9 || s[PACE_SIZE_K] > 1e9 || s[PACE_SIZE_B] > 1e9)
        return PACE_PROBE_OTHER;
    product *p = calloc(1, sizeof *p);
    if (p) {
        p->b = (blasint)s[PACE_SIZE_B];
        p->m = (blasint)s[PACE_SIZE_M];
        p->n = (blasint)s[PACE_SIZE_N];
        p->k = (blasint)s[PACE_SIZE_K];
        p->wide = wide;
        p->a = numbers(s[PACE_SIZE_B] * s[PACE_SIZE_M] * s[PACE_SIZE_K], wide);
        p->x = numbers(s[PACE_SIZE_B] * s[PACE_SIZE_K] * s[PACE_SIZE_N], wide);
        p->c = numbers(s[PACE_SIZE_B] * s[PACE_SIZE_M] * s[PACE_SIZE_N], wide);
        *state = p;
        if (p->a && p->x && p->c) return PACE_PROBE_OK;
        release(p);
    }
    snprintf(message, PACE_BACKEND_MESSAGE, "not enough memory for %.0f bytes", pace_point_footprint(point));
    return PACE_PROBE_FAILED;
}

/* OpenBLAS 0.3.21 has no batched product: one call for each. */
static void multiply(const product *p) {
    size_t a = (size_t)p->m * (size_t)p->k, x = (size_t)p->k * (size_t)p->n, c = (size_t)p->m * (size_t)p->n;
    for (size_t i = 0; i < (size_t)p->b; i++)
        if (p->wide)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p->m, p->n, p->k, 1, (double *)p->a + i * a, p->k,
                        (double *)p->x + i * x, p->n, 0, (double *)p->c + i * c, p->n);
        else
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p->m, p->n, p->k, 1, (float *)p->a + i * a, p->k,
                        (float *)p->x + i * x, p->n, 0, (float *)p->c + i * c, p->n);
}

static pace_probe_status time_runs(double *seconds, void *state, unsigned runs, char *message) {
    (void)message;
    double start = pace_host_clock_s(thread_count);
    for (unsigned i = 0; i < runs; i++) multiply(state);
    *seconds = pace_host_clock_s(thread_count) - start;
    return PACE_PROBE_OK;
}

static pace_probe_status describe(pace_device_facts *facts, int device, char *message) {
    (void)device;
    (void)message;
    snprintf(facts->software, sizeof facts->software, "%.48s %.32s kernels", openblas_get_config(),
             openblas_get_corename());
    return PACE_PROBE_OK;
}

static const pace_backend openblas = {
    .version = PACE_BACKEND_VERSION,
    .source = "openblas",
    .target = "cpu",
    .set_threads = set_threads,
    .describe = describe,
    .prepare = prepare,
    .time_runs = time_runs,
    .release = release,
};

const pace_backend *pace_calibrate_backend(void) { return &openblas; }
