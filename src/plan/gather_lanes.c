#include "plan/gather_lanes.h"

#include <stdbool.h>

typedef struct {
    double compute_s, exchange_s; /* until when each lane is busy */
} lanes;

static double later(double a, double b) { return a > b ? a : b; }

/* Behind what was computed. Returns when it has ended; what is nothing is not waited for. */
static double exchange(lanes *l, double seconds) {
    if (!(seconds > 0)) return 0;
    l->exchange_s = later(l->exchange_s, l->compute_s) + seconds;
    return l->exchange_s;
}

static void take_pass(lanes *l, const pace_gathered_chunk *chunk, int pass, int passes) {
    bool back = pass > 0, gathers = pass < 2, scatters = back && pass + 1 == passes;
    double ready_s = 0, next_s = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        const pace_gathered_block *block = chunk->blocks[back ? chunk->count - 1 - i : i];
        const pace_gathered_block *next =
            i + 1 == chunk->count ? NULL : chunk->blocks[back ? chunk->count - 2 - i : i + 1];
        if (i == 0 && gathers) ready_s = exchange(l, block->gather_s);
        next_s = next && gathers ? exchange(l, next->gather_s) : 0;
        l->compute_s = later(l->compute_s, ready_s) + block->work_s[pass];
        if (scatters) exchange(l, block->reduce_s);
        ready_s = next_s;
    }
}

static double work_of(const pace_gathered_chunk *chunk, int pass) {
    double sum = 0;
    for (size_t i = 0; i < chunk->count; i++) sum += chunk->blocks[i]->work_s[pass];
    return sum;
}

void pace_gathers_exposed(double out_s[PACE_GATHERED_PASSES], const pace_gathered_chunk *chunks, size_t count,
                          int passes) {
    enum { ROUNDS = 2 };
    lanes l = {0, 0};
    for (int pass = 0; pass < PACE_GATHERED_PASSES; pass++) out_s[pass] = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int pass = 0; pass < passes; pass++) {
            double begun_s = l.compute_s, work_s = 0;
            for (size_t c = 0; c < count; c++) {
                const pace_gathered_chunk *chunk = &chunks[pass ? count - 1 - c : c];
                take_pass(&l, chunk, pass, passes);
                work_s += work_of(chunk, pass);
            }
            out_s[pass] = later(0, l.compute_s - begun_s - work_s);
        }
}
