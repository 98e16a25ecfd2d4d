/* Runs that several exports show: while they ran, as long as they had by then, and later once more. */
#include "base/order.h"
#include "fleet/usage.h"

#include <math.h>

/* A run as one row shows it. */
typedef struct {
    pace_name job, part, gpu;
    double start_s, gpus, elapsed_s;
    bool ended;
    size_t run;
} sight;

PACE_ORDER(by_run, sight,
           PACE_UP(job) PACE_UP(part) PACE_UP(gpu) PACE_UP(start_s) PACE_UP(gpus) PACE_UP(ended) PACE_UP(elapsed_s)
               PACE_UP(run))

static bool is_same_run(const sight *a, const sight *b) {
    return a->job == b->job && a->part == b->part && a->gpu == b->gpu && a->start_s == b->start_s && a->gpus == b->gpus;
}

/* By name: which jobs a row shows while they ran; NULL = there was no memory. */
static bool *find_running(size_t *count, const pace_usage *usage) {
    bool *running = pace_alloc(pace_names_count(&usage->names), sizeof *running);
    *count = 0;
    PACE_ITEMS (const pace_usage_run, run, &usage->runs) {
        bool runs = running && run->job && run->state == PACE_STATE_RUNNING;
        if (runs) running[run->job] = true;
        *count += runs;
    }
    return running;
}

typedef PACE_VEC(sight) sights;

static pace_status find_sights(sights *out, const pace_usage *usage, const bool *running) {
    for (size_t i = 0; i < usage->runs.count; i++) {
        const pace_usage_run *run = &usage->runs.items[i];
        if (!run->job || !running[run->job] || isnan(run->start_s)) continue;
        PACE_TRY(PACE_PUSH(out, ((sight){run->job, run->part, run->by[PACE_BY_GPU], run->start_s, run->gpus,
                                         isnan(run->elapsed_s) ? -1 : run->elapsed_s, run->state != PACE_STATE_RUNNING,
                                         i})));
    }
    PACE_SORT(out, by_run);
    return PACE_OK;
}

/* Leaves the last sight of each run. */
static void take_out(pace_usage *usage, const bool *earlier) {
    size_t kept = 0;
    for (size_t i = 0; i < usage->runs.count; i++) {
        usage->earlier += earlier[i] && !usage->runs.items[i].split;
        if (!earlier[i]) usage->runs.items[kept++] = usage->runs.items[i];
    }
    usage->runs.count = kept;
}

static pace_status drop(pace_usage *usage, const bool *running) {
    sights all = {0};
    bool *earlier = pace_alloc(usage->runs.count, sizeof *earlier);
    pace_status status = earlier ? find_sights(&all, usage, running) : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i + 1 < all.count; i++)
        earlier[all.items[i].run] = !all.items[i].ended && is_same_run(&all.items[i], &all.items[i + 1]);
    if (status == PACE_OK) take_out(usage, earlier);
    pace_free(earlier);
    PACE_VEC_FREE(&all);
    return status;
}

pace_status pace_usage_drop_earlier(pace_usage *usage) {
    size_t count;
    bool *running = find_running(&count, usage);
    pace_status status = running ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK && count > 0) status = drop(usage, running);
    pace_free(running);
    return status;
}
