/*
 * A data-parallel step: when the gradients of one worker's step have been exchanged, and how much of that nothing else
 * hides. A closed form of lanes that take one piece of work after another (docs/scaling.md).
 */
#pragma once

#include "exchange/approaches.h"

/* One worker's step alone. Tensors in the order backward makes their gradients. */
typedef struct {
    double forward_s, backward_s, update_s; /* forward: with input and what is neither */
    size_t count;
    double *bytes;
    double *ready_s;           /* after backward began, ascending, at most backward_s */
    double *touched_bytes;     /* of a table: the rows that one worker's batch touches; < 0 = a dense tensor */
    double more_touched_bytes; /* the same of tables that are not among the tensors */
} pace_gradient_profile;

/* A table of an embedding: a tensor of `bytes`, of whose rows one worker's step looks up `lookups`. */
typedef struct {
    double bytes, rows, lookups;
} pace_gradient_table;

typedef PACE_VEC(pace_gradient_table) pace_gradient_tables;

/** Marks a table. All rows are equally likely, so that rows x (1 - (1 - 1/rows)^lookups) differ. */
void pace_gradient_profile_mark_table(pace_gradient_profile *profile, const pace_gradient_table *table);

void pace_gradient_profile_free(pace_gradient_profile *profile);

/** The time of one worker's step. */
static inline double pace_gradient_profile_step_s(const pace_gradient_profile *p) {
    return p->forward_s + p->backward_s + p->update_s;
}

typedef struct {
    double step_s;
    double exchange_s;      /* as long as it would take with nothing to hide behind */
    double skew_s;          /* waiting for the slowest worker */
    double exposed_s;       /* what of it makes the step longer */
    double slowed_s[2];     /* what it takes from computing beside it: from backward, from the forward pass (servers) */
    double buffers;         /* exchanged apart; 0 with servers */
    const char *bottleneck; /* what adds most to a worker's own step: "exchange", a lane of servers and workers,
                               "slowest worker", or "compute" when nothing adds 1 %; static */
} pace_gradient_times;

/** How many times as long backward takes beside the exchange. */
static inline double pace_gradient_stretch(const pace_gradient_profile *p, const pace_gradient_times *times) {
    return p->backward_s > 0 ? 1 + times->slowed_s[0] / p->backward_s : 1;
}

/* When the exchange of each tensor has ended, for whoever walks the step they are of. The lanes do one tensor after
 * another: none ends before the one before it. */
typedef struct {
    size_t count;
    double *end_s; /* after backward began */
    double
        *back_s; /* after the next step began: what its layer needs has come back; servers, and tables that are split */
} pace_gradient_ends;

void pace_gradient_ends_free(pace_gradient_ends *ends);

/** The largest of `count` draws of a standard normal, as expected: Blom's score (1958). */
double pace_expected_most(int count);

/** `machine` may be NULL. How far the slowest of `nodes` times `near` workers is behind, in the approach's skew: what
 * differs among workers of a node and what differs among nodes are normal each. */
double pace_gradients_most(const pace_approach *approach, const pace_machine *machine, int near, int nodes);

/* Ranks that wait for each other. */
typedef struct {
    const pace_machine *machine; /* NULL = not known: each has a node of its own */
    int per_node;                /* ranks of any kind; 0 = as many as a node has devices */
    int64_t count, stride;
    double rounds; /* micro-batches between two waits; below 1 = one */
} pace_gradient_ranks;

/** The same of ranks by where they sit, and how much the steps of workers that sit so differ. */
double pace_gradients_skew_among(double *jitter, const pace_approach *approach, const pace_gradient_ranks *ranks,
                                 double step_s);

/** The step with its exchange. `exchange` is open for the approach (pace_approach_open()). Errors: those of
 * pace_approach_buffer_s(). */
pace_status pace_gradients_exchange(pace_gradient_times *out, const pace_gradient_profile *profile,
                                    const pace_approach *approach, const pace_exchange *exchange,
                                    const pace_approach_setup *setup) PACE_MUST_CHECK;

/** The same, and when each tensor's exchange ends. */
pace_status pace_gradients_ends(pace_gradient_ends *ends, pace_gradient_times *times,
                                const pace_gradient_profile *profile, const pace_approach *approach,
                                const pace_exchange *exchange, const pace_approach_setup *setup) PACE_MUST_CHECK;

/** Room for `count` tensors, all of them dense. */
pace_status pace_gradient_room(pace_gradient_profile *profile, size_t count) PACE_MUST_CHECK;
