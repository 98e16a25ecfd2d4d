/*
 * The streaming operations on the CPU, as loops of our own, one range of items each; a compiler vectorises them, once
 * for each of three instruction sets. Items are elements, rows, or whatever may go to different threads.
 */
#include "host_loops.h"

#include "base/each_cpu.h"

#include <math.h>
#include <string.h>

#define LOOP(name) PACE_FOR_EACH_CPU static void name(const pace_host_work *w, size_t from, size_t to)

LOOP(copy_items) {
    const float *restrict a = w->a;
    float *restrict c = w->c;
    for (size_t i = from; i < to; i++) c[i] = a[i];
}

LOOP(scale_items) {
    const float *restrict a = w->a;
    float *restrict c = w->c;
    for (size_t i = from; i < to; i++) c[i] = 1.0001f * a[i];
}

LOOP(add_items) {
    const float *restrict a = w->a, *restrict b = w->b;
    float *restrict c = w->c;
    for (size_t i = from; i < to; i++) c[i] = a[i] + b[i];
}

LOOP(triad_items) {
    const float *restrict a = w->a, *restrict b = w->b;
    float *restrict c = w->c;
    for (size_t i = from; i < to; i++) c[i] = a[i] + 1.0001f * b[i];
}

/* An update of weights c by gradients a, whose running sum is b (SGD with momentum). */
LOOP(momentum_items) {
    const float *restrict a = w->a;
    float *restrict b = w->b, *restrict c = w->c;
    for (size_t i = from; i < to; i++) {
        b[i] = 0.9f * b[i] + a[i];
        c[i] -= 1e-6f * b[i];
    }
}

LOOP(copy_doubles) {
    const double *restrict a = (const double *)(const void *)w->a;
    double *restrict c = (double *)(void *)w->c;
    for (size_t i = from; i < to; i++) c[i] = a[i];
}

LOOP(scale_doubles) {
    const double *restrict a = (const double *)(const void *)w->a;
    double *restrict c = (double *)(void *)w->c;
    for (size_t i = from; i < to; i++) c[i] = 1.0001 * a[i];
}

LOOP(add_doubles) {
    const double *restrict a = (const double *)(const void *)w->a, *restrict b = (const double *)(const void *)w->b;
    double *restrict c = (double *)(void *)w->c;
    for (size_t i = from; i < to; i++) c[i] = a[i] + b[i];
}

LOOP(triad_doubles) {
    const double *restrict a = (const double *)(const void *)w->a, *restrict b = (const double *)(const void *)w->b;
    double *restrict c = (double *)(void *)w->c;
    for (size_t i = from; i < to; i++) c[i] = a[i] + 1.0001 * b[i];
}

LOOP(relu_items) {
    const float *restrict a = w->a;
    float *restrict c = w->c;
    for (size_t i = from; i < to; i++) c[i] = a[i] > 0 ? a[i] : 0;
}

LOOP(tanh_items) {
    const float *restrict a = w->a;
    float *restrict c = w->c;
    for (size_t i = from; i < to; i++) c[i] = tanhf(a[i]);
}

/* The approximation with tanh (Hendrycks and Gimpel 2016). */
LOOP(gelu_items) {
    const float *restrict a = w->a;
    float *restrict c = w->c;
    for (size_t i = from; i < to; i++) {
        float x = a[i];
        c[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    }
}

LOOP(sum_rows) {
    for (size_t row = from; row < to; row++) {
        const float *a = w->a + row * w->columns;
        float sum = 0;
        for (size_t i = 0; i < w->columns; i++) sum += a[i];
        w->c[row] = sum;
    }
}

LOOP(softmax_rows) {
    for (size_t row = from; row < to; row++) {
        const float *restrict a = w->a + row * w->columns;
        float *restrict c = w->c + row * w->columns, most = a[0], sum = 0;
        for (size_t i = 1; i < w->columns; i++) most = a[i] > most ? a[i] : most;
        for (size_t i = 0; i < w->columns; i++) sum += c[i] = expf(a[i] - most);
        for (size_t i = 0; i < w->columns; i++) c[i] /= sum;
    }
}

LOOP(layer_norm_rows) {
    for (size_t row = from; row < to; row++) {
        const float *restrict a = w->a + row * w->columns;
        float *restrict c = w->c + row * w->columns, sum = 0, squares = 0;
        for (size_t i = 0; i < w->columns; i++) sum += a[i];
        float mean = sum / (float)w->columns;
        for (size_t i = 0; i < w->columns; i++) squares += (a[i] - mean) * (a[i] - mean);
        float scale = 1.0f / sqrtf(squares / (float)w->columns + 1e-5f);
        for (size_t i = 0; i < w->columns; i++) c[i] = (a[i] - mean) * scale;
    }
}

/* Items are strips of 16 rows of one matrix. */
LOOP(transpose_strips) {
    enum { TILE = 16 };
    size_t m = w->m, n = w->n, strips = (m + TILE - 1) / TILE;
    for (size_t item = from; item < to; item++) {
        const float *restrict a = w->a + item / strips * m * n;
        float *restrict c = w->c + item / strips * m * n;
        size_t top = item % strips * TILE, bottom = top + TILE < m ? top + TILE : m;
        for (size_t left = 0; left < n; left += TILE) {
            size_t right = left + TILE < n ? left + TILE : n;
            for (size_t col = left; col < right; col++)
                for (size_t row = top; row < bottom; row++) c[col * m + row] = a[row * n + col];
        }
    }
}

/* Items are samples: the lower triangle of each is gathered. */
LOOP(tril_samples) {
    for (size_t sample = from; sample < to; sample++) {
        const float *restrict a = w->a + sample * w->m * w->n;
        float *restrict c = w->c + sample * w->m * w->n;
        size_t at = 0;
        for (size_t row = 0; row < w->m; row++)
            for (size_t col = 0; col < w->n && col < row + w->diagonal; col++) c[at++] = a[row * w->n + col];
    }
}

/* Items are samples: m x k and n x k, one below the other. */
LOOP(concat_samples) {
    size_t first = w->m * w->k, second = w->n * w->k;
    for (size_t sample = from; sample < to; sample++) {
        float *c = w->c + sample * (first + second);
        memcpy(c, w->a + sample * first, first * sizeof *c);
        memcpy(c + first, w->b + sample * second, second * sizeof *c);
    }
}

/* Items are samples of tables; a: the tables' rows, c: their sums. */
LOOP(lookup_forward) {
    size_t d = w->d;
    for (size_t item = from; item < to; item++) {
        const float *table = w->a + item / w->samples * w->rows * d;
        const int32_t *index = w->index + item * w->lookups;
        float *restrict c = w->c + item * d;
        for (size_t i = 0; i < d; i++) c[i] = 0;
        for (size_t l = 0; l < w->lookups; l++) {
            const float *restrict row = table + (size_t)index[l] * d;
            for (size_t i = 0; i < d; i++) c[i] += row[i];
        }
    }
}

/* Items are tables: a thread owns its rows. Gradients are added to the rows that were looked up. */
LOOP(lookup_backward) {
    size_t d = w->d;
    for (size_t table = from; table < to; table++)
        for (size_t sample = 0; sample < w->samples; sample++) {
            size_t item = table * w->samples + sample;
            const float *restrict gradient = w->c + item * d;
            for (size_t l = 0; l < w->lookups; l++) {
                float *restrict row = w->a + (table * w->rows + (size_t)w->index[item * w->lookups + l]) * d;
                for (size_t i = 0; i < d; i++) row[i] -= 1e-6f * gradient[i];
            }
        }
}

pace_host_loop pace_host_loop_of(const pace_point *point) {
    bool wide = point->dtype == PACE_POINT_FP64, forward = point->pass == PACE_POINT_FORWARD;
    if (point->dtype != PACE_POINT_FP32 && !wide) return NULL;
    if (point->op == PACE_MEASURE_COPY) return wide ? copy_doubles : copy_items;
    if (point->op == PACE_MEASURE_SCALE) return wide ? scale_doubles : scale_items;
    if (point->op == PACE_MEASURE_ADD) return wide ? add_doubles : add_items;
    if (point->op == PACE_MEASURE_TRIAD) return wide ? triad_doubles : triad_items;
    if (wide) return NULL;
    if (point->op == PACE_MEASURE_EMBEDDING)
        return forward ? lookup_forward : point->pass == PACE_POINT_BACKWARD ? lookup_backward : NULL;
    if (!forward) return NULL;
    switch (point->op) {
    case PACE_MEASURE_MOMENTUM: return momentum_items;
    case PACE_MEASURE_RELU: return relu_items;
    case PACE_MEASURE_GELU: return gelu_items;
    case PACE_MEASURE_TANH: return tanh_items;
    case PACE_MEASURE_SUM: return sum_rows;
    case PACE_MEASURE_SOFTMAX: return softmax_rows;
    case PACE_MEASURE_LAYER_NORM: return layer_norm_rows;
    case PACE_MEASURE_TRANSPOSE: return transpose_strips;
    case PACE_MEASURE_TRIL: return tril_samples;
    case PACE_MEASURE_CONCAT: return concat_samples;
    default: return NULL;
    }
}
