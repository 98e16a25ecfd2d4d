#include "cost/quantise.h"

#include <math.h>
#include <string.h>

static const char word[] = "quantised", once[] = "quantised_once";

bool pace_quantises(const pace_op *op) { return op->family == PACE_OP_GEMM && *op->kind && strstr(op->kind, word); }

pace_op pace_quantised_alone(const pace_op *op) {
    pace_op alone = *op;
    char *at = strstr(alone.kind, word);
    if (at) {
        size_t length = strncmp(at, once, sizeof once - 1) == 0 ? sizeof once - 1 : sizeof word - 1;
        memmove(at, at + length, strlen(at + length) + 1);
        if (at > alone.kind && at[-1] == '_' && !*at) at[-1] = '\0';
    }
    return alone;
}

/* One block of threads a row, which walks along it in strides: a row's last stride takes as long as a full one. */
double pace_quantise_s(const pace_op *op, const pace_cost_quantise *figure, const pace_device *device) {
    enum { B, M, N, K };
    if (!pace_quantises(op) || !(device->memory_bytes_per_s > 0)) return 0;
    double kernels = strstr(op->kind, once) ? 1 : 2, rows = op->size[B] * op->size[M];
    double row = ceil(op->size[K] / figure->stride) * figure->stride;
    double bytes = rows * row * (kernels * 2 + 1), sm_count = device->sm_count > 0 ? device->sm_count : 100;
    return kernels * (figure->fixed_s + rows * figure->row_s / sm_count) +
           bytes / (figure->memory * device->memory_bytes_per_s);
}
