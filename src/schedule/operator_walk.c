#include "schedule/operator_walk.h"

#include <math.h>

typedef struct {
    const pace_host_costs *costs;
    const pace_operator_walk_options *options;
    pace_operator_walk_result clock;
} walker;

static double figure(const walker *w, pace_overhead_type type, const char *name) {
    return pace_host_costs_get(w->costs, type, name, true, NULL).mean_ns;
}

/* An operator that was never seen without or with calls has no such overhead: nothing is shared between names here. */
static double own_figure(const walker *w, pace_overhead_type type, const char *name) {
    pace_host_level level;
    pace_host_cost cost = pace_host_costs_get(w->costs, type, name, true, &level);
    return level == PACE_HOST_OWN ? cost.mean_ns : 0;
}

static double call_ns(const walker *w, const pace_call_list *calls, uint32_t i) {
    return figure(w, PACE_T4, pace_names_text(&w->costs->names, w->costs->calls.items[calls->first + i]));
}

static void run_kernel(walker *w, double ns) {
    w->clock.active_ns += ns;
    w->clock.device_ns += ns;
}

/* Kernels beyond the known calls (memsets, which are not counted as calls) follow the last one. */
static void run_calls(walker *w, const pace_walk_operator *op, const pace_call_list *calls) {
    double between = own_figure(w, PACE_T5, op->name);
    for (uint32_t i = 0; i < calls->count; i++) {
        double call = call_ns(w, calls, i), ready = w->clock.host_ns + call * w->options->launch_share;
        w->clock.device_ns = fmax(w->clock.device_ns + w->options->between_ns, ready);
        uint32_t last = i + 1 < calls->count ? i + 1 : op->kernel_count;
        for (uint32_t k = i; op->kernel_ns && k < last && k < op->kernel_count; k++)
            run_kernel(w, op->kernel_ns[k] + w->options->kernel_extra_ns);
        w->clock.host_ns += call + (i + 1 < calls->count ? between : 0);
    }
}

static void run_whole(walker *w, const pace_walk_operator *op, const pace_call_list *calls) {
    w->clock.host_ns += own_figure(w, PACE_T2, op->name) + own_figure(w, PACE_T3, op->name) +
                        own_figure(w, PACE_T5, op->name) * (double)(calls->count - 1);
}

static void run_operator(walker *w, const pace_walk_operator *op) {
    pace_call_list calls = pace_host_costs_calls(w->costs, op->name);
    w->clock.host_ns += figure(w, PACE_T1, NULL);
    if (calls.count == 0 || op->silent) {
        w->clock.host_ns += own_figure(w, PACE_T5, op->name);
        return;
    }
    w->clock.host_ns += own_figure(w, PACE_T2, op->name);
    if (op->whole) run_whole(w, op, &calls);
    else run_calls(w, op, &calls);
    if (op->waits) w->clock.host_ns = fmax(w->clock.host_ns, w->clock.device_ns);
    bool replaced = op->waits && w->options->t3_of_waiting_ns >= 0;
    w->clock.host_ns += replaced ? w->options->t3_of_waiting_ns : own_figure(w, PACE_T3, op->name);
}

pace_operator_walk_result pace_operator_walk(const pace_walk_operator *operators, size_t count,
                                             const pace_host_costs *costs, const pace_operator_walk_options *options,
                                             double *host_ns_after) {
    walker w = {.costs = costs, .options = options};
    for (size_t i = 0; i < count; i++) {
        run_operator(&w, &operators[i]);
        if (host_ns_after) host_ns_after[i] = w.clock.host_ns;
    }
    w.clock.end_ns = fmax(w.clock.host_ns, w.clock.device_ns);
    return w.clock;
}
