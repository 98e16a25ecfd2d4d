#include "insight/host_gaps.h"

#include "base/order.h"
#include "insight/culprit.h"

#include <math.h>

enum {
    SAMPLES = 8, /* of each gap, evenly: a gap may hold several operators */
    MOST_ROWS = 4096
};

static const char *name_at(const pace_step *step, uint32_t lane, int64_t at_ns) {
    uint32_t task = pace_task_at(step, &step->lanes.items[lane], at_ns);
    if (task == PACE_NO_TASK) return "";
    uint32_t operator= pace_outermost_operator(step, task);
    if (operator!= PACE_NO_TASK) return pace_step_name(step, operator);
    const char *place = pace_host_place(step, task);
    return place ? place : "";
}

static pace_status add(pace_host_gaps *out, const char *name, const pace_tile *tile, double ns, bool is_a) {
    pace_host_gap gap = {.name = name, .input = tile->resource == PACE_IDLE_INPUT};
    *(is_a ? &gap.a_ns : &gap.b_ns) = ns;
    return PACE_PUSH(out, gap);
}

static pace_status add_gap(pace_host_gaps *out, const pace_step_side *side, const pace_tile *tile, bool is_a) {
    const pace_step *step = &side->rank->step;
    uint32_t task = side->rank->work.items.items[tile->item].task;
    uint32_t call = pace_task_on_device(step->kind[task]) ? pace_task_cause(step, task) : task;
    double part_ns = pace_per_step(side, pace_tile_end(tile) - tile->start_ns) / SAMPLES;
    if (call == PACE_NO_TASK) return add(out, "", tile, part_ns * SAMPLES, is_a);
    for (int i = 0; i < SAMPLES; i++) {
        int64_t at_ns = tile->start_ns + (pace_tile_end(tile) - tile->start_ns) * (2 * i + 1) / (2 * SAMPLES);
        PACE_TRY(add(out, name_at(step, pace_task_lane(step, call), at_ns), tile, part_ns, is_a));
    }
    return PACE_OK;
}

PACE_ORDER(by_name, pace_host_gap, PACE_UP(input) PACE_TEXT(name))

static void join(pace_host_gaps *gaps) {
    size_t kept = 0;
    PACE_SORT(gaps, by_name);
    for (size_t i = 0; i < gaps->count; i++) {
        if (kept && by_name(&gaps->items[kept - 1], &gaps->items[i]) == 0) {
            gaps->items[kept - 1].a_ns += gaps->items[i].a_ns;
            gaps->items[kept - 1].b_ns += gaps->items[i].b_ns;
        } else gaps->items[kept++] = gaps->items[i];
    }
    gaps->count = kept;
}

static pace_status add_side(pace_host_gaps *out, const pace_step_side *side, bool is_a) {
    const pace_tiles *tiles = &side->rank->tiles;
    size_t most = MOST_ROWS + 2 * out->count;
    PACE_ITEMS (const pace_tile, tile, tiles) {
        bool inside = side->steps == 0 || (tile->start_ns >= side->from_ns && tile->start_ns < side->to_ns);
        bool waits = tile->resource == PACE_IDLE_HOST || tile->resource == PACE_IDLE_INPUT;
        if (!inside || !waits || tile->item == PACE_NO_TASK) continue;
        PACE_TRY(add_gap(out, side, tile, is_a));
        if (out->count < most) continue;
        join(out); /* names repeat */
        most = MOST_ROWS + 2 * out->count;
    }
    join(out);
    return PACE_OK;
}

#define CHANGE(gap) fabs((gap)->b_ns - (gap)->a_ns)
PACE_ORDER(by_change, pace_host_gap, PACE_DOWN_OF(CHANGE) PACE_THEN(by_name))

pace_status pace_host_gaps_of(pace_host_gaps *out, const pace_step_change *change) {
    pace_host_gaps gaps = {0};
    pace_status status = add_side(&gaps, &change->a, true);
    if (status == PACE_OK) status = add_side(&gaps, &change->b, false);
    if (status == PACE_OK) PACE_SORT(&gaps, by_change);
    return PACE_GIVE(out, gaps, status, PACE_VEC_FREE(&gaps));
}
