/*
 * Fused attention: two products forward, five backward; the score matrix never leaves the chip. A block of threads
 * takes a tile of queries through its keys, and exponentials of the scores hide behind products in part only.
 */
#include "cost/formula.h"

#include <math.h>

enum { B, HEADS, KV_HEADS, QUERIES, KEYS, HEAD_DIM, CAUSAL, WINDOW };

/* Tiles of FlashAttention (Dao 2023, section 3.3: 64 or 128). What a block takes before its first keys come and after
 * its last is as long as so many keys, twice in backward: FlashAttention-2 and 3 on H100 from 512 to 16,384 keys,
 * causal or not (accuracy/published_kernels.csv). */
enum { TILE = 64, BLOCK = 128, START = 64 };

static double whole(double size) { return ceil(size / TILE) * TILE; }

/* Edges that the mask draws through a block's keys, half of whose tile is computed for nothing: the last key that a
 * query sees, and the first of its window, which the first queries do not have. */
static double edges_of(const double *s) {
    double diagonal = s[CAUSAL] > 0 ? 1 : 0;
    if (!(s[WINDOW] > 0) || !(s[QUERIES] > 1)) return diagonal;
    return diagonal + (s[CAUSAL] > 0 ? 1 : 2) * (1 - s[WINDOW] / s[KEYS]);
}

/* Scores that are computed over those that count, and multiprocessors over those that have a block. The fewer the
 * queries, the more blocks share a sequence's keys, as where words are generated. */
static double waste(const double *s, double sm_count, double start) {
    double queries = s[QUERIES] > BLOCK ? whole(s[QUERIES]) : s[QUERIES], part = fmin(queries / TILE, 1);
    double keys = pace_attention_keys_seen(s), edges = edges_of(s);
    double seen = edges > 0 ? fmin(keys + edges * TILE, whole(s[KEYS])) : whole(keys);
    double blocks = s[B] * s[HEADS] * queries / BLOCK, shared = s[QUERIES] / TILE;
    double idle = fmax(1, fmin(sm_count / blocks, shared * shared));
    return queries / s[QUERIES] * (seen + part * start) / keys * idle;
}

bool pace_formula_attention(pace_cost_parts *parts, const pace_op *op, const pace_cost_where *where) {
    if (!(op->flop > 0) || !(where->flop_per_s > 0) || !(where->memory_bytes_per_s > 0)) return false;
    const pace_cost_figure *figure = where->figure;
    const pace_device *device = where->device;
    double clocks_per_s = device->sm_count * device->boost_hz, rate = where->flop_per_s;
    if (!(clocks_per_s > 0) && figure->clock_flop > 0) clocks_per_s = rate / figure->clock_flop;
    if (figure->clock_flop > 0) rate = fmin(rate, figure->clock_flop * clocks_per_s);
    parts->fixed_s = figure->fixed_s;
    parts->compute_s = op->flop / (figure->compute * rate);
    parts->memory_s = (op->read_bytes + op->write_bytes) / (figure->memory * where->memory_bytes_per_s);
    if (!(figure->scores > 0) || !(clocks_per_s > 0) || !(op->size[HEAD_DIM] > 0)) return true;
    double scores = op->size[B] * op->size[HEADS] * op->size[QUERIES] * pace_attention_keys_seen(op->size);
    parts->compute_s += figure->scores * scores / clocks_per_s;
    parts->compute_s *= waste(op->size, device->sm_count, op->pass == PACE_PASS_FORWARD ? START : 2 * START);
    parts->partly_hidden = true;
    return true;
}
