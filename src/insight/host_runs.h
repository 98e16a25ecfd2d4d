/*
 * Most of a host's time between launches goes to operators within operators, none of which anything waits for: a replay
 * holds such a run as one segment. Which task each part of it belongs to is found again here.
 */
#pragma once

#include "step/step.h"

/** Whether time of a host's thread counts to a task, or to the one around it. */
bool pace_takes_host_time(const pace_step *step, uint32_t task);

typedef struct {
    int64_t at_ns;
} pace_instant;

typedef PACE_VEC(pace_instant) pace_instants;

/* A shorter pause of a thread is no waking. */
enum { PACE_PAUSE_NS = 1000 };

/** When threads of the host begin to work before `to_ns` after a pause, in order: another thread may wake them by what
 * it ends then. Appends to `out`, the caller's to free even on failure. */
pace_status pace_host_wakes(pace_instants *out, const pace_step *step, int64_t to_ns) PACE_MUST_CHECK;

/** The last part of a run that begins at `from_ns` and goes on until `to_ns` or longer: its task and where it begins.
 * `lane` is the run's. */
uint32_t pace_host_run_end(int64_t *start_ns, const pace_step *step, const pace_lane *lane, int64_t from_ns,
                           int64_t to_ns);
