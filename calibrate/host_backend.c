/*
 * The backend of our own loops: allocates the tensors of a point, spreads its items over threads, reads the clock.
 * Small work stays on one thread, as frameworks do it (a thread for every 32,768 elements).
 */
#include "base/print.h"
#include "host_clock.h"
#include "host_facts.h"
#include "host_loops.h"
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

typedef struct {
    pace_host_work work;
    pace_host_loop loop;
    size_t items;
    int threads;
} host_state;

static int thread_limit = 1;

static void set_threads(int threads) {
    thread_limit = threads;
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
#endif
}

static void release(void *state) {
    host_state *s = state;
    free(s->work.a);
    free(s->work.b);
    free(s->work.c);
    free(s->work.index);
    free(s);
}

/* Filled by the threads that will read it, so that its pages lie near them. */
static float *floats(double count, double value, int threads) {
    size_t size = ((size_t)count * sizeof(float) + 127) / 64 * 64;
    float *block = aligned_alloc(64, size);
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
    for (size_t i = 0; i < (block ? size / sizeof(float) : 0); i++)
        block[i] = (float)(value + 1e-3 * (double)(i % 997));
    return block;
}

static int32_t *indices(size_t count, size_t rows) {
    int32_t *index = malloc(count * sizeof *index);
    uint64_t state = 88172645463325252u; /* xorshift64 (Marsaglia 2003) */
    for (size_t i = 0; index && i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        index[i] = (int32_t)(state % rows);
    }
    return index;
}

/* Elements of the three tensors, and the items that threads share. */
static void plan(host_state *s, const pace_point *point, double count[3]) {
    const double *size = point->size;
    pace_host_work *w = &s->work;
    double width = point->dtype == PACE_POINT_FP64 ? 2 : 1;
    w->m = (size_t)fmax(size[PACE_SIZE_M], 0);
    w->n = (size_t)fmax(size[PACE_SIZE_N], 0);
    w->k = (size_t)fmax(size[PACE_SIZE_K], 0);
    w->columns = (size_t)fmax(size[PACE_SIZE_COLUMNS], 0);
    w->diagonal = (size_t)fmax(size[PACE_SIZE_DIAGONAL], 0);
    w->samples = (size_t)fmax(size[PACE_SIZE_B], 0);
    w->rows = (size_t)fmax(size[PACE_SIZE_ROWS], 0);
    w->lookups = (size_t)fmax(size[PACE_SIZE_LOOKUPS], 0);
    w->d = (size_t)fmax(size[PACE_SIZE_D], 0);
    count[1] = 0;
    switch (point->op) {
    case PACE_MEASURE_EMBEDDING:
        s->items = (size_t)size[PACE_SIZE_TABLES] * (point->pass == PACE_POINT_FORWARD ? w->samples : 1);
        count[0] = size[PACE_SIZE_TABLES] * size[PACE_SIZE_ROWS] * size[PACE_SIZE_D];
        count[2] = size[PACE_SIZE_TABLES] * size[PACE_SIZE_B] * size[PACE_SIZE_D];
        break;
    case PACE_MEASURE_TRANSPOSE:
        s->items = w->samples * ((w->m + 15) / 16);
        count[0] = count[2] = size[PACE_SIZE_B] * size[PACE_SIZE_M] * size[PACE_SIZE_N];
        break;
    case PACE_MEASURE_TRIL:
        s->items = w->samples;
        count[0] = count[2] = size[PACE_SIZE_B] * size[PACE_SIZE_M] * size[PACE_SIZE_N];
        break;
    case PACE_MEASURE_CONCAT:
        s->items = w->samples;
        count[0] = size[PACE_SIZE_B] * size[PACE_SIZE_M] * size[PACE_SIZE_K];
        count[1] = size[PACE_SIZE_B] * size[PACE_SIZE_N] * size[PACE_SIZE_K];
        count[2] = count[0] + count[1];
        break;
    case PACE_MEASURE_SUM:
    case PACE_MEASURE_SOFTMAX:
    case PACE_MEASURE_LAYER_NORM:
        s->items = w->rows;
        count[0] = count[2] = size[PACE_SIZE_ROWS] * size[PACE_SIZE_COLUMNS];
        break;
    default:
        s->items = (size_t)size[PACE_SIZE_ELEMENTS];
        count[0] = count[2] = width * size[PACE_SIZE_ELEMENTS];
        if (size[PACE_SIZE_INPUTS] > 1 || point->op == PACE_MEASURE_MOMENTUM) count[1] = count[0];
    }
    double grains = count[2] / 32768;
    if (point->op == PACE_MEASURE_SUM) grains = count[0] / 32768;
    s->threads = grains < 1 ? 1 : grains < thread_limit ? (int)grains : thread_limit;
}

static pace_probe_status prepare(void **state, const pace_point *point, int device, char *message) {
    double count[3];
    pace_host_loop loop = pace_host_loop_of(point);
    (void)device;
    if (!loop) return PACE_PROBE_OTHER;
    host_state *s = calloc(1, sizeof *s);
    if (!s) goto no_memory;
    s->loop = loop;
    plan(s, point, count);
    s->work.a = floats(count[0], 0.5, thread_limit);
    if (count[1] > 0) s->work.b = floats(count[1], 0.25, thread_limit);
    s->work.c = floats(count[2], 0, thread_limit);
    bool lookups = point->op == PACE_MEASURE_EMBEDDING;
    if (lookups)
        s->work.index =
            indices((size_t)point->size[PACE_SIZE_TABLES] * s->work.samples * s->work.lookups, s->work.rows);
    if (s->work.a && s->work.c && (s->work.b || count[1] <= 0) && (s->work.index || !lookups)) {
        *state = s;
        return PACE_PROBE_OK;
    }
    release(s);
no_memory:
    pace_snprintf(message, PACE_BACKEND_MESSAGE, "not enough memory for %.3g bytes", pace_point_footprint(point));
    return PACE_PROBE_FAILED;
}

static void run_once(const host_state *s) {
#ifdef _OPENMP
    if (s->threads > 1) {
#pragma omp parallel num_threads(s->threads)
        {
            size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
            s->loop(&s->work, s->items * me / threads, s->items * (me + 1) / threads);
        }
        return;
    }
#endif
    s->loop(&s->work, 0, s->items);
}

static pace_probe_status time_runs(double *seconds, void *state, unsigned runs, char *message) {
    (void)message;
    double start = pace_host_clock_s(thread_limit);
    for (unsigned i = 0; i < runs; i++) run_once(state);
    *seconds = pace_host_clock_s(thread_limit) - start;
    return PACE_PROBE_OK;
}

/* A region in which every thread does nothing: what it costs to hand work out and wait for it. */
static void nothing(const pace_host_work *work, size_t from, size_t to) {
    (void)work;
    (void)from;
    (void)to;
}

static pace_probe_status describe(pace_device_facts *facts, int device, char *message) {
    (void)device;
    host_state s = {.loop = nothing, .items = 1, .threads = thread_limit};
    pace_measure_limits limits = {
        .timer_s = pace_timer_resolution(), .batch_s = 1e-3, .point_s = 0.1, .batches = 50, .tolerance = 0.01};
    pace_point_time empty;
    pace_host_facts(facts);
    facts->timer_s = limits.timer_s;
    pace_probe_status status = pace_measure(&empty, &limits, time_runs, &s, message);
    if (status == PACE_PROBE_OK) facts->launch_s = empty.best_s; /* the floor: others delay it, nothing shortens it */
#ifdef _OPENMP
    snprintf(facts->software, sizeof facts->software, "OpenMP %d", _OPENMP);
#endif
    return status;
}

static const pace_backend host = {
    .version = PACE_BACKEND_VERSION,
    .source = "loops",
    .target = "cpu",
    .set_threads = set_threads,
    .describe = describe,
    .prepare = prepare,
    .time_runs = time_runs,
    .release = release,
};

const pace_backend *pace_host_backend(void) { return &host; }
