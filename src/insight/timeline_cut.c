#include "insight/timeline_cut.h"

/* Zones are visited in order, for starts ascend. */
static int64_t thin_at(const pace_zones *zones, size_t *zone, int64_t at_ns) {
    while (*zone + 1 < zones->count && zones->items[*zone].to_ns <= at_ns) ++*zone;
    return zones->items[*zone].thin_ns;
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

typedef struct {
    const pace_step *step;
    pace_drawn_slices *out;
    pace_drawn run; /* count 0 = none is open */
    uint32_t parent;
    int64_t last_end_ns; /* of the task that the run took last at its own level */
} cutter;

static pace_status close_run(cutter *c) {
    pace_status status = c->run.count ? PACE_PUSH(c->out, c->run) : PACE_OK;
    c->run.count = 0;
    return status;
}

static void extend_run(cutter *c, uint32_t task) {
    int64_t end_ns = pace_step_end_ns(c->step, task);
    if (end_ns > c->run.end_ns) c->run.end_ns = end_ns;
    if (c->step->duration_ns[task] > c->step->duration_ns[c->run.longest]) c->run.longest = task;
    c->run.count = task + 1 - c->run.first;
}

/* Whether an enclosing task is in the open run: then this one belongs to it. */
static bool is_inside_run(const cutter *c, uint32_t task) {
    uint32_t parent = c->step->parent[task];
    return c->run.count && parent != PACE_NO_TASK && parent >= c->run.first;
}

static bool joins_run(const cutter *c, uint32_t task, int64_t thin_ns) {
    return c->run.count && c->step->parent[task] == c->parent && c->step->start_ns[task] - c->last_end_ns < thin_ns;
}

static pace_status cut_task(cutter *c, uint32_t task, int64_t thin_ns) {
    const pace_step *step = c->step;
    if (is_inside_run(c, task)) {
        c->run.count = task + 1 - c->run.first;
        return PACE_OK;
    }
    bool thin = step->duration_ns[task] < thin_ns;
    if (thin && joins_run(c, task, thin_ns)) {
        extend_run(c, task);
    } else {
        PACE_TRY(close_run(c));
        c->run = (pace_drawn){step->start_ns[task], pace_step_end_ns(step, task), task, 1, task};
        c->parent = step->parent[task];
        if (!thin) return close_run(c);
    }
    c->last_end_ns = pace_step_end_ns(step, task);
    return PACE_OK;
}

pace_status pace_lane_cut(pace_drawn_slices *out, const pace_step *step, const pace_lane *lane,
                          const pace_zones *zones) {
    cutter c = {.step = step, .out = out};
    size_t zone = 0;
    out->count = 0;
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++)
        PACE_TRY(cut_task(&c, task, thin_at(zones, &zone, step->start_ns[task])));
    return close_run(&c);
}

/* --- tiles -------------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_drawn_tile tile;
    int64_t longest_ns;
    bool thin; /* takes further short tiles of any key */
} tile_run;

static bool tile_joins(const tile_run *run, const pace_tile *tile, uint8_t key, bool thin, int64_t thin_ns) {
    if (run->tile.count == 0) return false;
    if (thin || run->thin) return thin && run->thin && tile->start_ns - run->tile.end_ns < thin_ns;
    return key == run->tile.key && tile->start_ns == run->tile.end_ns;
}

pace_status pace_tiles_cut(pace_drawn_tiles *out, const pace_tiles *tiles, pace_tile_key by, const pace_zones *zones) {
    tile_run run = {.longest_ns = 0};
    size_t zone = 0;
    out->count = 0;
    for (size_t i = 0; i < tiles->count; i++) {
        const pace_tile *tile = &tiles->items[i];
        uint8_t key = by == PACE_TILES_BY_STAGE ? tile->stage : tile->resource;
        int64_t thin_ns = thin_at(zones, &zone, tile->start_ns), length_ns = tile->end_ns - tile->start_ns;
        bool thin = length_ns < thin_ns;
        if (!tile_joins(&run, tile, key, thin, thin_ns)) {
            if (run.tile.count) PACE_TRY(PACE_PUSH(out, run.tile));
            run = (tile_run){{tile->start_ns, tile->end_ns, 0, key}, length_ns, thin};
        }
        if (length_ns > run.longest_ns) run.tile.key = key, run.longest_ns = length_ns;
        if (run.thin || run.tile.count == 0) run.tile.count++;
        run.tile.end_ns = tile->end_ns;
    }
    return run.tile.count ? PACE_PUSH(out, run.tile) : PACE_OK;
}
