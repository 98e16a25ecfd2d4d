#include "cost/timed_ops.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t hash;
    const pace_timed_op *call;
} sorted_call;

PACE_ORDER(by_hash, sorted_call, PACE_UP(hash) PACE_UP(call))

/* Calls of one operation, which stand together. */
static pace_timed_ratio sum_up(const sorted_call *calls, size_t count) {
    double mean_s = 0, mean_log = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        mean_s += calls[i].call->time_s / (double)count;
        mean_log += log(calls[i].call->time_s) / (double)count;
    }
    for (size_t i = 0; i < count; i++) squares += pow(log(calls[i].call->time_s) - mean_log, 2);
    return (pace_timed_ratio){calls->call->op, mean_s, count > 1 ? sqrt(squares / (double)(count - 1)) : NAN, 0};
}

static pace_status sum_all(pace_timed_ops *out, const sorted_call *calls, size_t count) {
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && calls[to].hash == calls[from].hash; to++) continue;
        PACE_TRY(PACE_PUSH(&out->items, sum_up(calls + from, to - from)));
    }
    return PACE_OK;
}

pace_status pace_timed_ops_make(pace_timed_ops *out, const pace_device *device, const pace_timed_op *calls,
                                size_t count) {
    pace_timed_ops ops = {0};
    sorted_call *sorted = pace_alloc(count + 1, sizeof *sorted);
    if (!sorted) return PACE_E_MEMORY;
    memcpy(ops.device, device->name, strnlen(device->name, sizeof ops.device - 1));
    for (size_t i = 0; i < count; i++) sorted[i] = (sorted_call){pace_op_hash(&calls[i].op), &calls[i]};
    if (count) qsort(sorted, count, sizeof *sorted, by_hash);
    pace_status status = sum_all(&ops, sorted, count);
    pace_free(sorted);
    return PACE_GIVE(out, ops, status, pace_timed_ops_free(&ops));
}

static double distance(const pace_op *a, const pace_op *b) {
    double bytes = (a->read_bytes + a->write_bytes + 1) / (b->read_bytes + b->write_bytes + 1);
    return fabs(log((a->flop + 1) / (b->flop + 1))) + fabs(log(bytes));
}

const pace_timed_ratio *pace_timed_ops_nearest(const pace_timed_ops *of, const pace_op *op) {
    const pace_timed_ratio *nearest = NULL;
    double least = INFINITY;
    PACE_ITEMS (const pace_timed_ratio, one, &of->items) {
        if (one->op.family != op->family || one->op.pass != op->pass || strcmp(one->op.kind, op->kind) != 0) continue;
        double far = pace_op_equal(&one->op, op) ? -1 : distance(&one->op, op);
        if (far < least) least = far, nearest = one;
    }
    return nearest;
}

void pace_timed_ops_free(pace_timed_ops *ops) { PACE_VEC_FREE(&ops->items); }
