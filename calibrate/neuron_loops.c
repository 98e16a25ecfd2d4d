#include "neuron_loops.h"

#include "base/each_cpu.h"
#include "host_clock.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = PACE_NEURON_WIDTH, MOST_THREADS = 64 };

const char *const pace_neuron_kind_names[PACE_NEURON_KINDS] = {"multiply_add", "update", "activation"};

struct pace_neuron_probe {
    pace_neuron_kind kind;
    size_t rows;
    int threads;
    float *weights;                         /* shared */
    float *vectors;                         /* two of WIDTH for each thread */
    volatile float sums[MOST_THREADS * 16]; /* a cache line each: results that somebody might want */
};

static float *floats(size_t count, float value) {
    float *block = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
    for (size_t i = 0; block && i < count; i++) block[i] = value + 1e-3F * (float)(i % 97);
    return block;
}

pace_neuron_probe *pace_neuron_probe_make(pace_neuron_kind kind, size_t bytes, int threads) {
    pace_neuron_probe *probe = threads > MOST_THREADS ? NULL : calloc(1, sizeof *probe);
    if (!probe) return NULL;
    probe->kind = kind;
    probe->threads = threads;
    probe->rows = bytes / (WIDTH * sizeof(float));
    if (probe->rows == 0) probe->rows = 1;
    probe->weights = floats(probe->rows * WIDTH, 0.01F);
    probe->vectors = floats((size_t)threads * 2 * WIDTH, 0.02F);
    if (probe->weights && probe->vectors) return probe;
    pace_neuron_probe_free(probe);
    return NULL;
}

void pace_neuron_probe_free(pace_neuron_probe *probe) {
    free(probe->weights);
    free(probe->vectors);
    free(probe);
}

double pace_neuron_probe_count(const pace_neuron_probe *probe) {
    double weights = (double)probe->rows * WIDTH;
    return probe->kind == PACE_NEURON_MULTIPLY_ADD ? 2 * weights : weights;
}

/* Forward: the input of a neuron; backward: its error is spread over those below. One multiply-add of each for a
 * weight. */
PACE_FOR_EACH_CPU static float multiply_add(const float *restrict row, const float *restrict in,
                                            float *restrict errors) {
    float sum = 0;
    for (size_t i = 0; i < WIDTH; i++) sum += row[i] * in[i];
    for (size_t i = 0; i < WIDTH; i++) errors[i] += 1e-6F * row[i];
    return sum;
}

/* HOGWILD: what another thread writes at the same time may be lost. */
PACE_FOR_EACH_CPU static void update(float *restrict row, const float *restrict in) {
    for (size_t i = 0; i < WIDTH; i++) row[i] += 1e-9F * in[i];
}

PACE_FOR_EACH_CPU static void activate(const float *restrict row, float *restrict out) {
    for (size_t i = 0; i < WIDTH; i++) out[i] = 1 / (1 + expf(-row[i]));
}

static void pass(pace_neuron_probe *p, int thread) {
    float *in = p->vectors + (size_t)thread * 2 * WIDTH, *out = in + WIDTH, sum = 0;
    size_t at = p->rows * (size_t)thread / (size_t)p->threads; /* threads are at different samples */
    for (size_t r = 0; r < p->rows; r++, at = at + 1 < p->rows ? at + 1 : 0) {
        float *row = p->weights + at * WIDTH;
        if (p->kind == PACE_NEURON_MULTIPLY_ADD) sum += multiply_add(row, in, out);
        else if (p->kind == PACE_NEURON_UPDATE) update(row, in);
        else activate(row, out);
    }
    p->sums[thread * 16] += sum + out[0];
}

pace_probe_status pace_neuron_probe_time(double *seconds, void *probe, unsigned runs, char *message) {
    pace_neuron_probe *p = probe;
    double all_s = 0;
    (void)message;
#ifdef _OPENMP
#pragma omp parallel for num_threads(p->threads) schedule(static, 1) reduction(+ : all_s)
#endif
    for (int thread = 0; thread < p->threads; thread++) {
        double start = pace_host_clock_s(1);
        for (unsigned i = 0; i < runs; i++) pass(p, thread);
        all_s += pace_host_clock_s(1) - start;
    }
    *seconds = all_s / p->threads;
    return PACE_PROBE_OK;
}
