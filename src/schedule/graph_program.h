/*
 * The device work of several ranks as one program: every stream a lane, its kernels work, its sends and receives
 * messages, its collectives the operations of an algorithm. What the host does is left out: this is the replay of a
 * trace that says what waits for what (Chakra), on a network.
 */
#pragma once

#include "exchange/program.h"
#include "schedule/walk.h"

/* By which algorithm a collective is done (exchange/program_build.h); those not named: by a ring, an all-to-all
 * pairwise. It must need one lane a rank. */
typedef struct {
    const char *collective, *algorithm;
} pace_collective_choice;

/** The program of the ranks, whose numbers are their places in `ranks`. Of a rank its graph and `launch_ns` are read;
 * that of an exchange only where not all of its group are here: then it takes as long as that, and `apart` (may be
 * NULL) counts it. Every message takes wire 0. PACE_E_INPUT when exchanges do not meet, or are not known, or when one
 * without partners has no time (NAN). */
pace_status pace_program_of_graphs(pace_program *out, size_t *apart, const pace_walk_rank *ranks, size_t count,
                                   const pace_collective_choice *choices, size_t choice_count) PACE_MUST_CHECK;
