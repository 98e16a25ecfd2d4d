#include "forecast/scaling.h"
#include "forecast/forecast_price.h"

#include <math.h>

bool pace_scaling_rate_can_be(double samples_per_s) { return samples_per_s >= 1e-6 && samples_per_s <= 1e12; }

pace_status pace_scaling_place(pace_machine *placed, pace_approach_setup *setup, const pace_machine *machine,
                               int workers, int nodes) {
    int devices = machine->devices;
    bool fill = nodes == 0;
    if (workers < 1) return pace_fail(PACE_E_USAGE, "expected 1 worker or more, found %d", workers);
    if (fill) nodes = workers <= devices ? 1 : workers / devices;
    int near = (workers - 1) / nodes + 1;
    if (nodes > workers || (!fill && near > devices))
        return pace_fail(PACE_E_USAGE, "%s: %d workers cannot sit on %d nodes of %d devices", machine->name, workers,
                         nodes, devices);
    if (fill && workers > devices && workers % devices)
        return pace_fail(PACE_E_USAGE, "%s: %d workers do not fill nodes of %d devices", machine->name, workers,
                         devices);
    if (nodes > 1 && machine->between.kind == PACE_LINK_NONE)
        return pace_fail(PACE_E_USAGE,
                         "%s: has %d device%s and nothing that joins nodes (net=100Gb/s): expected at most %d "
                         "worker%s, found %d",
                         machine->name, devices, devices > 1 ? "s" : "", devices, devices > 1 ? "s" : "", workers);
    if (machine->nodes > 1 && nodes > machine->nodes && !fill)
        return pace_fail(PACE_E_USAGE, "%s: has %d nodes: expected at most as many, found %d", machine->name,
                         machine->nodes, nodes);
    if (machine->nodes > 1 && nodes > machine->nodes)
        return pace_fail(PACE_E_USAGE, "%s: has %d devices: expected at most as many workers, found %d", machine->name,
                         devices * machine->nodes, workers);
    *placed = *machine;
    placed->nodes = nodes;
    setup->ranks_per_node = near;
    setup->nodes = nodes;
    return PACE_OK;
}

static pace_status run(pace_gradient_times *out, const pace_gradient_profile *profile, const pace_approach *approach,
                       const pace_exchange *exchange, const pace_approach_setup *setup, double slowness) {
    pace_approach_setup changed = *setup;
    changed.slowness = slowness * (setup->slowness > 0 ? setup->slowness : 1);
    return pace_gradients_exchange(out, profile, approach, exchange, &changed);
}

pace_status pace_scaling_open(pace_scaling_exchange *out, pace_catalog *catalog, const pace_approach *approach,
                              const pace_machine *machine, const pace_device *device, int workers, int nodes) {
    pace_scaling_exchange opened = {.workers = workers};
    pace_machine placed;
    PACE_TRY(pace_scaling_place(&placed, &opened.setup, machine, workers, nodes));
    PACE_TRY(pace_approach_open(&opened.exchange, catalog, approach, &placed));
    opened.setup.copy_rate = pace_device_host_rate(device, &opened.exchange.doubts);
    opened.setup.memory_rate = pace_adding_rate(device);
    *out = opened;
    return PACE_OK;
}

/* The step of workers over what was opened for them. */
static pace_status step_over(pace_scaling_point *out, const pace_gradient_profile *profile, double compute_spread,
                             const pace_approach *approach, const pace_scaling_exchange *over) {
    const double *doubts = over->exchange.doubts.figure;
    double wide = PACE_NORMAL_90 * doubts[PACE_DOUBT_SCALING_EXCHANGE], alike = doubts[PACE_DOUBT_SCALING_STEP];
    pace_gradient_times times, slow, fast;
    PACE_TRY(run(&times, profile, approach, &over->exchange, &over->setup, 1));
    PACE_TRY(run(&slow, profile, approach, &over->exchange, &over->setup, exp(wide)));
    PACE_TRY(run(&fast, profile, approach, &over->exchange, &over->setup, exp(-wide)));
    double compute = pace_gradient_profile_step_s(profile) / times.step_s * compute_spread;
    double by_exchange = fmax(log(slow.step_s / times.step_s), log(times.step_s / fast.step_s)) / PACE_NORMAL_90;
    double spread = sqrt(compute * compute + by_exchange * by_exchange + (over->workers > 1 ? alike * alike : 0));
    *out = (pace_scaling_point){times, {times.step_s, spread, PACE_RUNG_FORMULA, 0}};
    return PACE_OK;
}

pace_status pace_scaling_at(pace_scaling_point *out, pace_catalog *catalog, const pace_gradient_profile *profile,
                            double compute_spread, const pace_approach *approach, const pace_machine *machine,
                            const pace_device *device, int workers) {
    pace_scaling_exchange over;
    PACE_TRY(pace_scaling_open(&over, catalog, approach, machine, device, workers, 0));
    return step_over(out, profile, compute_spread, approach, &over);
}
