#include "cost/embedding.h"
#include "cost/formula.h"

#include <math.h>

enum { B, T, E, L, D };

typedef struct {
    double samples; /* B T */
    double index;   /* bytes of a sample's indices */
    double row;     /* bytes of a row, whole sectors */
    double rows;    /* rows moved per sample: L, or 2 L when they are updated */
} lookup;

static double sectors(double bytes) { return ceil(bytes / 32) * 32; }

static bool is_backward(const pace_op *op) { return op->pass != PACE_PASS_FORWARD; }

static double element(const pace_op *op) { return op->element_bytes > 0 ? op->element_bytes : 4; }

static lookup lookup_of(const pace_op *op) {
    double l = op->size[L];
    return (lookup){op->size[B] * op->size[T], sectors(4 * l), sectors(element(op) * op->size[D]),
                    is_backward(op) ? 2 * l : l};
}

static const double offset_bytes = 32 + 64; /* of a table, and of a sample: one sector and two */

pace_embedding_traffic pace_embedding_plain(const pace_op *op) {
    lookup at = lookup_of(op);
    return (pace_embedding_traffic){at.samples * (offset_bytes + at.index + at.rows * at.row + at.row), 0};
}

/* 45 warps of a multiprocessor's 64 are resident (71 % occupancy), and 90 % of the cache holds rows: the authors'. */
pace_embedding_traffic pace_embedding_unique(const pace_op *op, double l2_bytes, double sm_count) {
    static const double warps_per_sm = 45, cache_share = 0.9;
    lookup at = lookup_of(op);
    double e = op->size[E], draws = op->size[B] * op->size[L], row = element(op) * op->size[D];
    double unique = e > 1 ? -e * expm1(draws * log1p(-1 / e)) : 1;
    double tables = fmax(ceil(sm_count * warps_per_sm / op->size[B]), 1);
    double resident = fmin(fmin(floor(cache_share * l2_bytes / (tables * row)), e), draws);
    double misses = unique > resident ? resident + (draws - resident) * (e - resident) / e : unique;
    double hits = fmin(fmax(1 - misses / draws, 0), 1);
    return (pace_embedding_traffic){at.samples * (at.index + offset_bytes + at.row + (1 - hits) * at.rows * at.row),
                                    at.samples * hits * at.rows * at.row};
}

double pace_embedding_atomics(const pace_op *op) {
    enum { TIMES = 4, THERE_AND_BACK = 2 };
    if (!is_backward(op) || !(op->size[T] > 1)) return 0;
    return op->size[B] * op->size[T] * op->size[L] * op->size[D] * element(op) * TIMES * THERE_AND_BACK;
}

/* Unique rows where the table and the cache are known, else plain. */
bool pace_formula_embedding(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where) {
    const pace_device *device = where->device;
    double bandwidth = where->figure->memory * where->memory_bytes_per_s;
    for (int i = 0; i <= D; i++)
        if (i != E && !(op->size[i] > 0)) return false;
    if (!(bandwidth > 0)) return false;
    bool cached = op->size[E] > 0 && device->l2_bytes > 0 && device->sm_count > 0;
    pace_embedding_traffic traffic =
        cached ? pace_embedding_unique(op, device->l2_bytes, device->sm_count) : pace_embedding_plain(op);
    double vector = pace_device_rate(device, PACE_FP32);
    parts->fixed_s = where->figure->fixed_s;
    parts->memory_s = traffic.memory_bytes / bandwidth;
    parts->l2_s = fmax(traffic.l2_bytes, pace_embedding_atomics(op)) / (where->figure->memory * where->l2_bytes_per_s);
    if (vector > 0) parts->compute_s = op->flop / (where->figure->compute * vector);
    return true;
}
