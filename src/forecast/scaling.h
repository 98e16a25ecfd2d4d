/* A data-parallel step on some number of workers, by approach. */
#pragma once

#include "forecast/gradient_profile.h"

/** Whether a rate of one worker, in samples/s, can be: from one in 12 days to 1e12. Others make a step of no or of
 * endless time. */
bool pace_scaling_rate_can_be(double samples_per_s);

/** How `workers` sit on a machine: they fill its nodes, or fewer than a node's devices one node; or they sit on `nodes`
 * of them (0 = as many as they fill), each taken to be as full as the fullest. `*placed` is the machine with as many
 * nodes. PACE_E_USAGE when they do not fill whole nodes, or the machine has fewer. */
pace_status pace_scaling_place(pace_machine *placed, pace_approach_setup *setup, const pace_machine *machine,
                               int workers, int nodes) PACE_MUST_CHECK;

typedef struct {
    pace_gradient_times times;
    pace_estimate step_s; /* times.step_s with what compute and exchange are uncertain by */
} pace_scaling_point;

/* What some number of workers exchange over: the machine's nodes that they fill, and the library's tables. */
typedef struct {
    pace_exchange exchange;
    pace_approach_setup setup;
    int workers;
} pace_scaling_exchange;

/** Opens it. Of the approach, its library and rate of host memory count. `device` is that of its workers.
 * Nothing to free. Errors: those of pace_scaling_place() and pace_approach_open(). */
pace_status pace_scaling_open(pace_scaling_exchange *out, pace_catalog *catalog, const pace_approach *approach,
                              const pace_machine *machine, const pace_device *device, int workers,
                              int nodes) PACE_MUST_CHECK;

/** The step of `workers`, each with the profile's: opens what they exchange over. `compute_spread` is of the profile's
 * times; `device` is the workers'. */
pace_status pace_scaling_at(pace_scaling_point *out, pace_catalog *catalog, const pace_gradient_profile *profile,
                            double compute_spread, const pace_approach *approach, const pace_machine *machine,
                            const pace_device *device, int workers) PACE_MUST_CHECK;
