#include "ask/predict/approach_exchange.h"
#include "base/halving.h"
#include "exchange/least.h"

#include <math.h>

static pace_status copy_rate_of(double *out, pace_catalog *catalog, const char *name, const pace_doubts *doubts) {
    pace_device_catalog devices;
    const pace_device *device;
    PACE_TRY(pace_device_catalog_load(&devices, catalog));
    pace_status status = pace_device_resolve(&device, &devices, name, 0);
    if (status == PACE_OK) *out = pace_device_host_rate(device, doubts);
    pace_device_catalog_free(&devices);
    return status;
}

pace_status pace_approach_make_ready(pace_approach_opened *out, pace_catalog *catalog, const pace_approach *approach,
                                     const pace_machine *machine) {
    pace_approach_opened opened = {.approach = *approach};
    PACE_TRY(pace_approach_open(&opened.exchange, catalog, approach, machine));
    PACE_TRY(copy_rate_of(&opened.copy_rate, catalog, machine->device, &opened.exchange.doubts));
    *out = opened;
    return PACE_OK;
}

/* Messages are as uncertain as their closed form; what is around them rests on recalled constants. */
static void find_spread(pace_estimate *out, pace_doubts_used *used, const pace_approach_opened *opened, int nodes,
                        const pace_approach_parts *parts) {
    const double *figures = opened->exchange.doubts.figure, whole = pace_approach_exchange_s(parts);
    pace_doubt own = pace_exchange_doubt(&opened->exchange, nodes);
    double around = whole > 0 ? 1 - parts->messages_s / whole : 0;
    *used = (pace_doubts_used){{0}, false};
    used->added[own] = whole > 0 ? figures[own] : 0;
    used->added[PACE_DOUBT_APPROACH_COSTS] = figures[PACE_DOUBT_APPROACH_COSTS] * around;
    *out =
        (pace_estimate){whole, hypot(used->added[own], used->added[PACE_DOUBT_APPROACH_COSTS]), PACE_RUNG_FORMULA, 0};
}

pace_status pace_approach_exchange_time(pace_estimate *out, pace_approach_parts *parts, pace_doubts_used *used,
                                        const pace_approach_opened *opened, int ranks_per_node, int nodes,
                                        double bytes) {
    const pace_machine *m = &opened->exchange.machine;
    pace_approach_setup setup = {ranks_per_node, nodes, opened->copy_rate, 0, 0};
    PACE_TRY(pace_approach_parts_find(parts, &opened->approach, &opened->exchange, &setup, bytes, 1));
    int over = nodes ? nodes : m->nodes, on_each = ranks_per_node ? ranks_per_node : m->devices;
    find_spread(out, used, opened, over, parts);
    if (on_each * over > 1)
        out->least = pace_exchange_least_s(m, &opened->exchange.doubts, PACE_ALLREDUCE, bytes, on_each, over);
    return PACE_OK;
}

void pace_approach_exchange_asked_free(pace_approach_exchange_asked *a) {
    PACE_VEC_FREE(&a->opened, &a->points, &a->crossings, &a->sizes);
    pace_approach_list_free(&a->approaches);
    pace_approaches_free(&a->table);
}

static pace_status check_options(const pace_exchange_options *o) {
    pace_collective collective;
    const char *word = o->library ? "library" : o->algorithm ? "algorithm" : o->protocol ? "protocol" : NULL;
    if (!word && o->ranks > 0) word = "ranks";
    if (!word && o->fit_path) word = "fit";
    if (word)
        return pace_fail(PACE_E_USAGE,
                         "%s: has no effect on an " PACE_FIELD "approach, which has its own (figures of an "
                         "approach are changed as in mpi-opt:reduce=host)",
                         word);
    PACE_TRY(pace_read_collective(&collective, o->collective));
    if (collective == PACE_ALLREDUCE) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "collective: approaches reduce gradients: expected allreduce, found \"%.40s\"",
                     o->collective);
}

static pace_status open_all(pace_approach_exchange_asked *a, const pace_exchange_options *options) {
    pace_catalog *catalog = options->context->catalog;
    pace_approach_opened opened;
    a->options = options;
    if (!options->on)
        return pace_fail(PACE_E_USAGE, "expected a machine: " PACE_FIELD "on dgx-1-v100*2 (see docs/exchange.md)");
    PACE_TRY(check_options(options));
    PACE_TRY(pace_machine_asked(&a->machine, catalog, options->on));
    PACE_TRY(pace_approaches_load(&a->table, catalog));
    PACE_TRY(pace_approach_list_read(&a->approaches, &a->table, &options->approach));
    for (size_t i = 0; i < a->approaches.items.count; i++) {
        PACE_TRY(pace_approach_make_ready(&opened, catalog, &a->approaches.items.items[i], &a->machine));
        PACE_TRY(PACE_PUSH(&a->opened, opened));
    }
    PACE_TRY(pace_read_sizes(&a->sizes, options->bytes ? options->bytes : "8..1G"));
    pace_sizes_in_order(&a->sizes);
    return PACE_OK;
}

static pace_status add_points(pace_approach_exchange_asked *a) {
    for (size_t i = 0; i < a->opened.count; i++)
        for (size_t s = 0; s < a->sizes.count; s++) {
            pace_approach_size point = {.approach = i, .bytes = a->sizes.items[s]};
            PACE_TRY(pace_approach_exchange_time(&point.time_s, &point.parts, &point.used, &a->opened.items[i], 0, 0,
                                                 point.bytes));
            double first_s = i ? a->points.items[s].time_s.median : point.time_s.median;
            point.times_first = first_s > 0 ? point.time_s.median / first_s : NAN;
            PACE_TRY(PACE_PUSH(&a->points, point));
        }
    return PACE_OK;
}

typedef struct {
    const pace_approach_opened *first, *other;
    bool slower; /* at the smaller size */
} pair;

static pace_status is_slower(bool *out, const pair *p, double bytes) {
    pace_estimate first, other;
    pace_approach_parts parts;
    pace_doubts_used used;
    PACE_TRY(pace_approach_exchange_time(&first, &parts, &used, p->first, 0, 0, bytes));
    PACE_TRY(pace_approach_exchange_time(&other, &parts, &used, p->other, 0, 0, bytes));
    *out = other.median > first.median;
    return PACE_OK;
}

static pace_status still_so(bool *out, void *context, uint64_t bytes) {
    const pair *p = context;
    PACE_TRY(is_slower(out, p, (double)bytes));
    *out = *out == p->slower;
    return PACE_OK;
}

static pace_status add_crossings_of(pace_approach_exchange_asked *a, size_t approach) {
    const pace_approach_size *points = &a->points.items[approach * a->sizes.count];
    for (size_t s = 1; s < a->sizes.count; s++) {
        pair p = {&a->opened.items[0], &a->opened.items[approach], points[s - 1].times_first > 1};
        uint64_t last;
        if ((points[s].times_first > 1) == p.slower) continue;
        PACE_TRY(pace_halve(&last, (uint64_t)points[s - 1].bytes, (uint64_t)points[s].bytes, still_so, &p));
        PACE_TRY(PACE_PUSH(&a->crossings, ((pace_approach_crossing){approach, (double)last + 1, !p.slower})));
    }
    return PACE_OK;
}

pace_status pace_approach_exchange_ask(pace_approach_exchange_asked *out, const pace_exchange_options *options) {
    PACE_TRY(open_all(out, options));
    PACE_TRY(add_points(out));
    for (size_t i = 1; i < out->opened.count; i++) PACE_TRY(add_crossings_of(out, i));
    return PACE_OK;
}
