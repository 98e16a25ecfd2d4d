/* The ranks of a training: how many there are, what they exchange gradients with, and what they tell each other at the
 * end. */
#pragma once

#include "patient.h"
#include "exchangers.h"
#include "trained_network.h"
#include "step_record.h"

typedef struct {
    const pace_processes *processes; /* NULL for one rank; else those of `patient` */
    pace_patient patient;
    int rank, count;
    int near;             /* ranks of this host */
    const char *approach; /* NULL = nothing is exchanged */
    bool overlap, asynchronous;
    unsigned servers, port;
    double fusion_bytes, timeout_s;
} pace_train_ranks;

/** What a question says. PACE_E_USAGE for fields that have no effect on one rank, and for numbers that cannot be. */
pace_status pace_train_ranks_read(pace_train_ranks *out, const pace_question *question) PACE_MUST_CHECK;

/** Opens the exchange of a network's gradients, if there is one. Collective. */
pace_status pace_train_ranks_begin(pace_exchange *out, const pace_train_ranks *ranks, const pace_network *network,
                                   const pace_train_update *update, pace_step_record *record) PACE_MUST_CHECK;

/** Whether any rank says so. Called by all of several ranks. PACE_E_IO where one does not answer. */
pace_status pace_train_ranks_any(bool *out, const pace_train_ranks *ranks, bool mine) PACE_MUST_CHECK;
/** The mean over the ranks of each of `count` values, on rank 0. Collective. */
pace_status pace_train_ranks_mean(const pace_train_ranks *ranks, double *values, size_t count) PACE_MUST_CHECK;

/** How long the steps that count took, and their parts, on rank 0: ranks begin a step together, and it is as long as
 * the slowest rank's, whose parts are told; of ranks that wait for nobody, the mean. Collective. */
pace_status pace_train_ranks_steps(const pace_train_ranks *ranks, pace_step_record *record,
                                   size_t done) PACE_MUST_CHECK;
