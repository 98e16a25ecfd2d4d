#include "cost/sample.h"

#include "cost/formula.h"
#include "cost/tiles.h"

#include <math.h>

/* A product hidden in the operation: b of m x n x k. All 0 when there is none. */
typedef struct {
    double b, m, n, k;
} product;

static product product_of(const pace_op *op) {
    const double *s = op->size;
    product p = {0};
    if (op->family == PACE_OP_GEMM) p = (product){s[0], s[1], s[2], s[3]};
    if (op->family == PACE_OP_CONVOLUTION) {
        double groups = s[12] > 0 ? s[12] : 1, twice = op->pass == PACE_PASS_BACKWARD ? 4 : 2;
        p = (product){groups, 1, s[4] / groups, s[1] / groups * s[5] * s[6]};
        p.m = op->flop / (twice * groups * p.n * p.k);
    }
    if (op->family == PACE_OP_ATTENTION)
        return (product){s[0] * s[1], s[3], s[7] > 0 ? pace_attention_keys_seen(s) : s[4], s[5]};
    if (op->pass == PACE_PASS_BACKWARD_DATA) return (product){p.b, p.m, p.k, p.n};
    if (op->pass == PACE_PASS_BACKWARD_WEIGHT) return (product){p.b, p.n, p.k, p.m};
    return p;
}

static float log2_of(double x) { return (float)log2(x > 1e-30 ? x : 1e-30); }

unsigned pace_sample_axes(pace_op_family family) {
    switch (family) {
    case PACE_OP_GEMM:
    case PACE_OP_ATTENTION: return 4;
    case PACE_OP_CONVOLUTION: return 6;
    case PACE_OP_EMBEDDING: return 5;
    case PACE_OP_NORMALIZATION:
    case PACE_OP_SOFTMAX:
    case PACE_OP_REDUCTION:
    case PACE_OP_LOSS: return 2;
    case PACE_OP_TRANSPOSE:
    case PACE_OP_TRIL: return 3;
    case PACE_OP_POOLING: return 5;
    default: return 1;
    }
}

static void place(pace_sample *out, const pace_op *op, const product *p) {
    const double *s = op->size;
    if (op->family == PACE_OP_CONVOLUTION) {
        double seen = s[1] / fmax(s[12], 1); /* channels that a filter sees */
        double places[] = {s[0], seen, s[2] * s[3], s[4], s[5] * s[6], s[7] * s[8]};
        for (int i = 0; i < 6; i++) out->at[i] = log2_of(places[i]);
    } else if (op->family == PACE_OP_ATTENTION) {
        double places[] = {p->b, p->m, p->n, p->k};
        for (int i = 0; i < 4; i++) out->at[i] = log2_of(places[i]);
    } else {
        for (unsigned i = 0; i < pace_sample_axes(op->family); i++) out->at[i] = log2_of(s[i]);
    }
}

/* Shares that are used: of the last wave's places, and of the padded tiles. */
static void tile_traits(float *trait, const product *p, double sm_count) {
    for (int i = 1; i < 6; i++) {
        double tiles = p->b * ceil(p->m / pace_tile_m[i]) * ceil(p->n / pace_tile_n[i]), waves = tiles / sm_count;
        trait[2 * (i - 1)] = (float)(waves / ceil(waves));
        trait[2 * (i - 1) + 1] = (float)(p->b * p->m * p->n / (tiles * pace_tile_m[i] * pace_tile_n[i]));
    }
}

static void alignment_traits(float *trait, const product *p) {
    const double sizes[] = {p->m, p->n, p->k};
    for (int i = 0; i < 3; i++) trait[i] = (float)fmod(sizes[i], 32);
}

/* Rows are short bursts, which the matrix units' measured rates, held down by power over seconds, do not bind; vector
 * rates do not differ so. Against the A100's and H100's rows either way. */
static double rate_of(const pace_op *op, const pace_device *device) {
    bool vector = op->precision == PACE_FP32 || op->precision == PACE_FP64;
    return vector ? pace_device_sustained_flop_per_s(device, op->precision) : pace_device_rate(device, op->precision);
}

bool pace_sample_of(pace_sample *out, const pace_op *op, const pace_device *device, double formula_s) {
    pace_sample s = {0};
    double bytes = op->read_bytes + op->write_bytes, rate = rate_of(op, device);
    bool link = op->family == PACE_OP_TRANSFER;
    double bandwidth = link ? device->pcie_bytes_per_s : pace_device_sustained_bytes_per_s(device);
    if (!(bytes > 0) || !(rate > 0) || !(bandwidth > 0)) return false;
    product p = product_of(op);
    double sm_count = device->sm_count > 0 ? device->sm_count : 1;
    pace_tiling tiling = {1, 1, 0, 1};
    bool has_product = p.m >= 1 && p.n >= 1 && p.k >= 1 && p.b >= 1;
    if (has_product) tiling = pace_tiling_best(p.b, p.m, p.n, p.k, sm_count);
    double compute_s = op->flop / rate, memory_s = bytes / bandwidth, waste = tiling.cost;
    if (op->family == PACE_OP_CONVOLUTION) waste *= pace_convolution_filled(op, device);
    s.formula_s = formula_s > 0 ? formula_s : fmax(compute_s, memory_s);
    s.place[0] = log2_of(rate), s.place[1] = log2_of(bandwidth), s.place[2] = log2_of(sm_count);
    place(&s, op, &p);
    float *t = s.trait;
    t[0] = log2_of(compute_s), t[1] = log2_of(memory_s), t[2] = t[0] - t[1];
    t[3] = log2_of(waste), t[4] = log2_of(tiling.waves), t[5] = (float)tiling.tile, t[6] = log2_of(tiling.split);
    t[7] = device->l2_bytes > 0 ? log2_of(bytes / device->l2_bytes) : 0;
    t[8] = log2_of(bytes / (op->element_bytes > 0 ? op->element_bytes : 4) / sm_count);
    if (has_product) {
        tile_traits(t + 9, &p, sm_count);
        alignment_traits(t + 19, &p);
        t[22] = log2_of(p.m * p.n), t[23] = log2_of(p.m), t[24] = log2_of(p.n), t[25] = log2_of(p.k);
    } else {
        for (unsigned i = 0; i < 2; i++) t[19 + i] = (float)fmod(op->size[i], 32);
        t[23] = s.at[0], t[24] = s.at[1];
    }
    *out = s;
    return true;
}
