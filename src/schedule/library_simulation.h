/*
 * An exchange simulated as a library does it: by the program of the algorithm that it chooses, over links that carry
 * what its protocol reaches of them, with the waiting of its hops. Where no messages meet this takes what the library's
 * closed form says; where they do, it says how far off that is.
 */
#pragma once

#include "schedule/simulation.h"

typedef struct {
    pace_exchange_way way;
    const char *algorithm, *protocol; /* the library's words; borrowed */
} pace_library_run;

/** Runs what `library` (NCCL's, of the simulation's machine) chooses for a size. `out` is as of pace_simulation_run(),
 * but closed_s is the library's; its algorithm is the row whose program stands for the library's. */
pace_status pace_library_simulation_run(pace_simulation_answer *out, pace_library_run *run,
                                        const pace_simulation *simulation, const pace_exchange *library, double bytes,
                                        pace_flow_log *log) PACE_MUST_CHECK;
