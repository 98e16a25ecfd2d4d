/*
 * From a step without times to one with: when every operator and kernel of a graph runs, given what each kernel takes
 * and what the host spends around it.
 *
 * The graph is compiled to segments on lanes (schedule/replay.h is the only event loop). Of a top-level operator the
 * host runs  T1 | T2 T4 | T5 T4 | … | T3  (cost/host_costs.h); a kernel starts when its launch has reached the device,
 * its stream is free and the launches it waits for have ended; a synchronisation holds its thread until they have.
 * Launches of several ranks that exchange with each other start together when the last has arrived.
 */
#pragma once

#include "schedule/walk_rank.h"

/** Walks the ranks together. `out` receives a finished step per rank (count of them), each repeat under an annotation
 * "ProfilerStep#N" on thread 0 when there are several; on failure none. `launch_ns` must be finite and at least 0.
 * Errors: PACE_E_INPUT when the ranks' exchanges do not meet or wait for each other in a circle. */
pace_status pace_walk(pace_step *out, const pace_walk_rank *ranks, size_t count,
                      const pace_walk_options *options) PACE_MUST_CHECK;

/* Instants of a walk from 0. */
typedef struct {
    int64_t host_ns, device_ns; /* when all has been issued, and when all has run */
    int64_t gradients_ns;       /* when the last exchange of gradients starts; 0 = there is none */
} pace_walk_ends;

/** The same of one rank, walked once, without a timeline. */
pace_status pace_walk_ends_of(pace_walk_ends *out, const pace_walk_rank *rank,
                              const pace_walk_options *options) PACE_MUST_CHECK;
